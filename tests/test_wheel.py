"""The wheel is complete, and works unpacked in an empty folder, offline and without the project."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("build")
pytest.importorskip("hatchling")

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "redraft"
SENTENCE = "The artisans remain old, and the town is well known for its art."


def files_below(folder):
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The wheel of this tree, unpacked."""
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("unpacked")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", made, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, cwd=made)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = made.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    assert wheel.stat().st_size < 100_000_000  # what PyPI takes
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def complete(unpacked):
    """The unpacked wheel with a model: its own, or a small one if the source tree has none."""
    from redraft.decode.eight_bit_model import holds_eight_bit_model, save_eight_bit_model
    from small_models import tiny_model_for
    from tokenizers_in_memory import single_digits

    folder = unpacked / "redraft" / "models" / "rewriter"
    if not holds_eight_bit_model(folder):
        save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), folder)
    return unpacked


def run(unpacked, folder, *argv):
    """Python with the unpacked wheel in place of this tree."""
    env = {**os.environ, "PYTHONPATH": str(unpacked), "HF_HUB_OFFLINE": "1"}
    return subprocess.run([sys.executable, *argv], cwd=folder, env=env, capture_output=True, text=True)


def test_the_wheel_contains_the_whole_package(unpacked):
    built = {name for name in files_below(unpacked / "redraft") if not name.startswith("models/rewriter/")}
    assert built == {name for name in files_below(SOURCE) if not name.startswith("models/rewriter/")}
    (about,) = unpacked.glob("*.dist-info")
    assert "redraft = redraft.cli:main" in (about / "entry_points.txt").read_text()
    if (SOURCE / "models" / "rewriter").exists():
        assert files_below(unpacked / "redraft/models/rewriter") >= files_below(SOURCE / "models" / "rewriter")


def test_the_wheel_contains_the_licences_of_code_and_models(unpacked):
    (about,) = unpacked.glob("*.dist-info")
    metadata = (about / "METADATA").read_text(encoding="utf-8")
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-4.0 AND LicenseRef-WordNet-3.0" in metadata
    for name in ("LICENSE", "LICENSE-MODELS.md", "NOTICE"):
        assert f"License-File: {name}" in metadata
        assert (about / "licenses" / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_unpacked_package_is_imported(unpacked, tmp_path):
    done = run(unpacked, tmp_path, "-c", "import redraft; print(redraft.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(unpacked)


def test_it_rewrites_from_any_folder(complete, tmp_path):
    done = run(complete, tmp_path, "-m", "redraft.cli", "simplify", SENTENCE, "--device", "cpu")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert done.stdout.strip()
    code = f"from redraft import Simplifier; print(Simplifier(device='cpu')({SENTENCE!r}).text)"
    assert run(complete, tmp_path, "-c", code).stdout == done.stdout
    assert list(tmp_path.iterdir()) == []


def test_it_aligns_from_any_folder(unpacked, tmp_path):
    code = (
        "from redraft.align.trained_aligner import TrainedAligner as Aligner; "
        "print(*map(sorted, Aligner.load(device='cpu').align([(['an', 'old', 'man'], ['an', 'aged', 'man'])])))"
    )
    done = run(unpacked, tmp_path, "-c", code)
    assert (done.returncode, done.stdout) == (0, "[(0, 0), (1, 1), (2, 2)]\n"), done.stderr
