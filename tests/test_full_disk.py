"""A full disk gives an error with the file and the next step, whichever library writes; so does standard output."""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

import optuna
import pytest
import torch

from redraft.cli.console import explain_full_disk
from redraft.cli.main import main
from redraft.eight_bit_weights import save_eight_bit
from redraft.errors import ConfigError
from redraft.files import atomic_write, disk_full_errors
from redraft.fit.checkpoints import save_checkpoint
from redraft.fit.rewriter.run_folder import RunFolder
from redraft.tune.study import _storage, storage_errors
from small_models import tiny_model_for
from tokenizers_in_memory import byte_level

resource = pytest.importorskip("resource")  # not on Windows
ROOT = Path(__file__).resolve().parent.parent
SCRIPTED = f"scripted:{ROOT}/examples/by_hand.json"
PLANS = str(ROOT / "examples/by_hand.jsonl")
TRIED = ("tune", "--model", SCRIPTED, "--plan", PLANS, "--reference", "reference.txt", "--out", "out", "--trials", "1")


@contextmanager
def small_disk(size):
    """Limit the size of files: larger ones fail as on a full disk, including those that pytest itself writes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


@needs_full
@pytest.mark.parametrize(
    "argv",
    [
        ("--version",),
        ("--help",),
        ("simplify", "--help"),
        ("simplify", "--model", SCRIPTED, "--plan", PLANS),
        ("simplify", "--model", SCRIPTED, "--plan", PLANS, "--json"),
        ("plan", "check", PLANS),
        ("plan", "show", PLANS),
        ("plan", "extract", "--aligner", "exact", "--source", "source.txt", "--reference", "source.txt"),
        ("align", "--aligner", "exact", "--input", "pairs.tsv"),
        ("evaluate", "--source", "source.txt", "--reference", "source.txt", "--outputs", "source.txt"),
        TRIED,
    ],
    ids=lambda argv: " ".join(argv[:2]),
)
def test_standard_output_without_room(argv, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("source.txt").write_text("The artisans remain old .\n")
    Path("reference.txt").write_text("The artisans remain old .\n")
    Path("pairs.tsv").write_text("The artisans remain .\tThe makers remain .\n")
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(argv) == 2
        monkeypatch.undo()
    _, said = capfd.readouterr()
    assert said.endswith(
        "redraft: standard output cannot be written: No space left on device.\n"
        "  Free some disk space and rerun the same command.\n"
    )
    assert "Traceback" not in said


@needs_full
def test_a_device_without_room(capfd):
    assert main(["simplify", "--model", SCRIPTED, "--plan", PLANS, "--out", "/dev/full"]) == 2
    said = capfd.readouterr().err
    assert "0 lines in /dev/full; rerun the command with --resume to continue" in said
    assert "/dev/full cannot be written: No space left on device.\n  Free some disk space" in said


def torch_file(path):
    save_checkpoint(path, {"weights": torch.rand(9000)})


def eight_bit(path):
    save_eight_bit(path, {"weights": torch.rand(300, 100)})


def bytes_alone(path):
    with atomic_write(path) as file:
        file.write(b"x" * 30_000)


def appended(path):
    with disk_full_errors(path), open(path, "ab") as file:
        file.write(b"x" * 30_000)


@pytest.mark.parametrize("write", [torch_file, eight_bit, bytes_alone, appended])
def test_every_writer_names_its_file(tmp_path, write):
    path = tmp_path / "written"
    with pytest.raises(OSError, match="File too large") as caught, small_disk(20_000):
        write(path)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert not list(tmp_path.glob(".*"))  # no partial file is left


def test_a_model_that_has_no_room(tmp_path):
    folder = RunFolder(tmp_path, {})
    folder.checkpoint.mkdir()
    with pytest.raises(OSError, match="File too large") as caught, small_disk(20_000):
        folder.write_model(tiny_model_for("bart", byte_level()), byte_level())
    assert caught.value.filename == str(folder.checkpoint / "model")


def test_resumable_commands_say_how_to_resume(tmp_path):
    with pytest.raises(ConfigError) as caught, explain_full_disk(str(tmp_path)), open(tmp_path / "f", "w"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(caught.value) == (
        f"{tmp_path} cannot be written: No space left on device.\n"
        "  Free some disk space; the same command resumes from the last checkpoint."
    )
    with pytest.raises(FileNotFoundError), explain_full_disk(str(tmp_path)):  # not of the disk
        open(tmp_path / "nothing")


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.parametrize("scheme", ["sqlite:///", "journal:"])
def test_a_storage_that_has_no_room(tmp_path, scheme):
    where = f"{scheme}{tmp_path / 'storage'}"
    study = optuna.create_study(storage=_storage(where))
    size = os.path.getsize(tmp_path / "storage") + 100
    with pytest.raises((ConfigError, OSError)) as caught, small_disk(size), storage_errors(where):
        study.set_user_attr("large", "x" * 1_000_000)
    assert str(tmp_path / "storage") in str(caught.value)
