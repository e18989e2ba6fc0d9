"""The examples run from any folder and print what is documented."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
EXAMPLE = EXAMPLES / "by_hand.py"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What by_hand.py prints, run as a reader would, from another folder."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE], cwd=tmp_path_factory.mktemp("elsewhere"), capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode("utf-8")


def test_ends_with_the_answer_and_what_plain_beam_search_gives(printed):
    chosen, plain = printed.split("chosen: ")[1].split("plain beam search")
    assert "The craftsmen are old ." in chosen
    assert chosen.count("satisfied") == 3
    assert "The artisans remain young ." in plain
    assert (plain.count("violated"), plain.count("unmet")) == (2, 1)


@pytest.mark.parametrize("words", [
    "source    The artisans remain old .",
    "edits     artisans→craftsmen   −remain   +old",
    "siblings: artisans craftsmen old",
    "no reward for artisans→craftsmen: artisans is not among the siblings",
    "artisans→craftsmen, −remain, +old  D  1  → row 3",
    "below delta: −2 < 2−2",
    "beyond alpha 9",
    "unselected: rows full",
    "finished → pool",
    "E  2   L  −3.50   The craftsmen are old .",
    "chosen over the alternative",
])  # fmt: skip
def test_shows_every_kind_of_outcome(printed, words):
    assert words in printed


def test_can_be_followed_on_a_page(printed):
    assert [printed.count(f"\nstep {number}\n") for number in range(1, 8)] == [1, 1, 1, 1, 1, 1, 0]
    assert max(map(len, printed.splitlines())) <= 100
    assert "\033" not in printed  # colours are for terminals


def test_every_number_can_be_checked_by_hand(capsys):
    """L is the sum of the table's entries along the words, for every row that is printed."""
    spec = importlib.util.spec_from_file_location("by_hand", EXAMPLE)
    by_hand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(by_hand)
    from redraft import Redrafter, read_plans
    from redraft.decode.scripted_model import ScriptedModel

    table = ScriptedModel.from_json(by_hand.HERE / "by_hand.json")
    with read_plans(by_hand.HERE / "by_hand.jsonl") as plans:
        (decoded,) = Redrafter(table, config=by_hand.CONFIG).stream(plans, trace=True)
    for step in decoded.trace:
        for row in step["rows"]:
            tokens = tuple(row["tokens"])
            by_words = sum(table.next_log_probs(tokens[:n])[token] for n, token in enumerate(tokens))
            assert row["log_prob"] == pytest.approx(by_words)


def test_three_sentences_are_shown_with_their_rewritings(tmp_path, monkeypatch, capsys):
    """With a small model in place of the bundled one, since the texts do not matter here."""
    import runpy

    from redraft.decode.eight_bit_model import save_eight_bit_model
    from small_models import tiny_model_for
    from tokenizers_in_memory import single_digits

    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), tmp_path)
    monkeypatch.setattr("redraft.decode.model_loading.bundled", lambda name: tmp_path)
    runpy.run_path(str(EXAMPLES / "three_sentences.py"), run_name="__main__")
    printed = capsys.readouterr().out.split("\n\n")[:-1]
    sources = (EXAMPLES / "three_sentences.txt").read_text(encoding="utf-8").splitlines()
    assert [shown.split("\n")[0] for shown in printed] == [f"source  {source}" for source in sources]
    assert all(shown.split("\n")[1].startswith("output  ") for shown in printed)
    assert len(printed) == 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of the Jupyter packages
def test_the_tour_shows_what_is_stored_in_it(monkeypatch):
    """Every cell of the notebook, with the bundled model; the outputs are compared, not the warnings of libraries."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # threads that wait for each other are slow beside other tests
    stored = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    nbformat.validate(stored)
    tour = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    NotebookClient(tour, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    assert [shown(cell) for cell in tour.cells] == [shown(cell) for cell in stored.cells]
    assert len(EXAMPLES.joinpath("tour.ipynb").read_bytes()) < 30_000


def shown(cell):
    """What a cell prints and displays; a busy machine delivers printed text in several parts."""
    outputs = [one for one in cell.get("outputs", []) if one.get("name") != "stderr"]
    printed = "".join(one.get("text", "") for one in outputs)
    return [printed, *(dict(one["data"]) for one in outputs if "data" in one)]
