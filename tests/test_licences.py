"""Licences: every training source is attributed, and tables contain only words and numbers."""

import lzma
import re
from pathlib import Path

import pytest
from training.settings import read_recipe

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = sorted(path for path in (ROOT / "src" / "redraft").glob("models/*") if (path / "README.md").exists())
TABLES = {path.name: path for folder in BUNDLED for path in folder.glob("*.tsv.xz")}
NUMBER = re.compile(r"-?[0-9]*")
LONGEST = 6  # words of a phrase


def licence_page():
    return (ROOT / "LICENSE-MODELS.md").read_text(encoding="utf-8")


def attributed():
    """The tags of the table of sentence pairs, each with the origin of its text and its licence."""
    section = licence_page().split("## Sentence pairs")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    return {tag: (origin, licence) for tags, _, origin, licence in rows for tag in re.findall("`(.*?)`", tags)}


def named_in_cards():
    """The tags in the tables of data of all model cards."""
    data = "".join((folder / "README.md").read_text(encoding="utf-8").split("## Data")[1] for folder in BUNDLED)
    rows = (line for line in data.splitlines() if line.startswith("| "))
    first_cells = (row.split("|")[1] for row in rows)
    return {tag for cell in first_cells for tag in re.findall(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+){1,}\b", cell)}


def tags_of_the_recipe():
    recipe = read_recipe()
    return {tag for step in ("teacher", "student", "plan_reading") for tag in recipe[step]["corpora"]}


def test_every_tag_is_attributed():
    assert len(BUNDLED) == 4
    assert len(named_in_cards()) > 10
    assert named_in_cards() <= set(attributed())
    assert tags_of_the_recipe() <= set(attributed())


def test_no_training_reads_a_source_without_origin_and_licence():
    known = attributed()
    for tag in tags_of_the_recipe():
        origin, licence = known[tag]
        assert licence != "none stated" or origin == "Wikipedia", tag
        assert "NC" not in licence, tag


@pytest.mark.parametrize("name", ["aligner", "checker", "planner", "rewriter"])
def test_every_card_names_the_licence(name):
    card = (ROOT / "src" / "redraft" / "models" / name / "README.md").read_text(encoding="utf-8")
    assert re.search(r"licensed\s+under CC BY-SA 4.0", card)
    assert "](../../../../LICENSE-MODELS.md)" in card


# ---- contents of the tables ----


def cells(name):
    return [line.split("\t") for line in lzma.decompress(TABLES[name].read_bytes()).decode().split("\n") if line]


def phrases(name, row):
    """The cells of a row that contain words; all others must be numbers."""
    if name in ("common_names.tsv.xz", "reviewed_targets.tsv.xz"):
        return [phrase.strip() for cell in row for phrase in cell.split(";")]
    if name == "wordnet_relations.tsv.xz":
        if row[0] == "_":  # a word, and the words before it in fixed terms
            return [row[1], *(phrase.strip() for phrase in row[2].split(";"))]
        words = " ".join(row[1:]).split()
        assert not {"the", "of"} & set(words), row  # a list of words, no definition
        return words
    words = [0] if name in ("word_frequency.tsv.xz", "complexity_ratio.tsv.xz") else [0, *range(4, len(row), 2)]
    assert all(NUMBER.fullmatch(cell) for at, cell in enumerate(row) if at not in words), row
    return [row[at] for at in words]


@pytest.mark.parametrize("name", sorted(TABLES))
def test_tables_contain_words_and_numbers(name):
    assert f"`{name}`" in licence_page()
    longest = max((phrase for row in cells(name) for phrase in phrases(name, row)), key=lambda one: len(one.split()))
    assert len(longest.split()) <= LONGEST, longest


def test_no_other_bundled_file_contains_text():
    names = {path.name for folder in BUNDLED for path in folder.iterdir()} - set(TABLES)
    assert {Path(name).suffix for name in names} == {".json", ".log", ".md", ".safetensors"}
