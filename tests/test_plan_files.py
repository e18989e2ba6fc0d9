"""Plan files: read line by line; an invalid line does not affect the others."""

import io
import json
import os
import stat
import sys
import tracemalloc

import pytest
from hypothesis import given

from redraft.errors import ConfigError, PlanError
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.plan_files import read_plans, write_jsonl, write_plans
from test_edits import plans

GOOD = b'{"source": "They remain old .", "edits": [{"delete": "remain"}]}'
PLAN = EditPlan("They remain old .", (Edit.delete("remain"),))


def edit_line(text):
    return b'{"source": "They remain old .", "edits": [{"insert": "old"}, ' + text + b"]}"


# the invalid line, its field, the cause, the next step
BAD_LINES = [
    pytest.param(b'{"source": "a", "edits": [}', None, "invalid JSON at column 27", "complete object", id="broken"),
    pytest.param(b'{"source": "a"', None, "invalid JSON at column 15", "complete object", id="half-a-line"),
    pytest.param(b'{"source": "a"} {}', None, "invalid JSON at column 17", "complete object", id="two-objects"),
    pytest.param(b"{'source': 'a'}", None, "invalid JSON at column 2", '{"source":', id="single-quotes"),
    pytest.param(b"The artisans remain .", None, "invalid JSON at column 1", '{"source":', id="plain-text"),
    pytest.param(b"[" * 100_000, None, "beyond the limits", "corrupted", id="bottomless"),
    pytest.param(b'{"source": ' + b"1" * 5000 + b"}", None, "beyond the limits", "corrupted", id="endless-number"),
    pytest.param(b"[]", None, "a plan must be an object", '{"source":', id="a-list"),
    pytest.param(b'{"source": "caf\xe9"}', None, "not UTF-8: 0xe9 is byte 16 of the line", "UTF-8", id="latin-1"),
    pytest.param(b'\xff\xfe{\x00', None, "not UTF-8: 0xff is byte 1 of the line", "as UTF-8", id="utf-16"),
    pytest.param(b'{"source": "a", "source": "b"}', "source", '"source" appears twice', "Keep one", id="key-twice"),
    pytest.param(edit_line(b'{"insert": "a", "insert": "b"}'), "insert", '"insert" appears twice', "two objects",
                 id="key-twice-in-an-edit"),
    pytest.param(edit_line(b'{"inser": "a"}'), "edits[1].inser", "unknown key", '"insert"', id="unknown-key"),
    pytest.param(edit_line(b'{"split": ""}'), "edits[1].split", "phrase is empty", '{"split": true}', id="empty-split"),
    pytest.param(b'{"source": "a", "strength": "weak"}', "strength", 'one of "light", "medium", "strong" or "off"',
                 'leave "strength" out', id="unknown-strength"),
    pytest.param(edit_line(b'{"delete": 4}'), "edits[1].delete", "must be a string", "in quotes", id="wrong-type"),
    pytest.param(edit_line(b'{"delete": " "}'), "edits[1].delete", "phrase is empty", "one word", id="empty-phrase"),
    pytest.param(edit_line(b'{"delete": "OLD"}'), "edits[1]", 'edit 2 deletes "OLD" but edit 1 inserts "old"',
                 "Remove one", id="contradiction"),
    pytest.param(edit_line(b'{"substitute": "a", "with": ["A"]}'), "edits[1].with[0]", "by itself", "another phrase",
                 id="substituted-by-itself"),
    pytest.param(edit_line(b'{"delete": "a", "weight": -2}'), "edits[1].weight", "not negative, but it is -2", "0.5",
                 id="negative-weight"),
    pytest.param(edit_line(b'{"delete": "a", "weight": NaN}'), "edits[1].weight", "must be finite", "0.5",
                 id="weight-nan"),
    pytest.param(edit_line(b'{"delete": "a", "weight": -Infinity}'), "edits[1].weight", "but it is -inf", "0.5",
                 id="weight-infinite"),
    pytest.param(edit_line(b'{"delete": "a", "weight": 1e999}'), "edits[1].weight", "but it is inf", "0.5",
                 id="weight-overflows"),
    pytest.param(b'{"source": NaN}', "source", "it is the number NaN", "in quotes", id="source-nan"),
    pytest.param(edit_line(b'{"delete": "a", "span": [0, 99]}'), "edits[1].span", "outside the source, which has 17",
                 "end <= 17", id="span-outside"),
    pytest.param(b'{"source": "a\\ud83d"}', "source", "half of a surrogate pair", "both halves", id="half-an-emoji"),
]  # fmt: skip


@pytest.mark.parametrize("bad, field, problem, hint", BAD_LINES)
def test_errors_have_place_cause_and_next_step(tmp_path, bad, field, problem, hint):
    path = tmp_path / "plans.jsonl"
    path.write_bytes(GOOD + b"\n\n" + bad + b"\n" + GOOD)
    reader = read_plans(path)
    assert next(reader) == PLAN
    with pytest.raises(PlanError) as caught:
        next(reader)
    error = caught.value
    assert (error.path, error.line, error.field) == (str(path), 3, field)
    assert problem in error.problem
    assert hint in error.hint
    assert str(error).startswith(f"{path}:3, {field}: " if field else f"{path}:3: ")
    assert str(error).endswith(f"\n  {error.hint}")


@pytest.mark.parametrize("bad, field, problem, hint", BAD_LINES)
def test_a_skipped_line_does_not_lose_the_others(bad, field, problem, hint):
    errors = []
    reader = read_plans(io.BytesIO(b"\n".join([GOOD, bad, GOOD])), on_error="skip", report=errors.append)
    assert list(reader) == [PLAN, PLAN]
    assert (reader.read, reader.skipped) == (2, 1)
    assert [(error.line, error.field) for error in errors] == [(2, field)]


def test_invalid_bytes_are_located_in_line_and_file():
    with pytest.raises(PlanError, match=r"byte 3 of the line \(offset 67 in the file\)"):
        list(read_plans(io.BytesIO(GOOD + b"\n" + b'{"\xff')))


def test_skipping_reports_to_standard_error_with_a_count_at_the_end(tmp_path, capsys):
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"\n".join([GOOD, b"{", GOOD, b"[]"]))
    reader = read_plans(path, on_error="skip")
    assert list(reader) == [PLAN, PLAN]
    assert list(reader) == []  # the count is reported once
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith(f"skipped: {path}:2: invalid JSON")
    assert lines[2].startswith(f"skipped: {path}:4: a plan must be an object")
    assert lines[4:] == [f"{path}: 2 read, 2 skipped"]


def test_nothing_is_reported_if_nothing_is_skipped(capsys):
    assert list(read_plans(io.BytesIO(GOOD), on_error="skip")) == [PLAN]
    assert capsys.readouterr() == ("", "")


def test_the_counts_grow_while_reading():
    reader = read_plans(io.BytesIO(b"\n".join([GOOD, b"{", GOOD])), on_error="skip", report=lambda error: None)
    seen = [(reader.read, reader.skipped) for _ in reader]
    assert seen == [(1, 0), (2, 1)]


def test_after_an_error_the_reader_is_at_its_end():
    reader = read_plans(io.BytesIO(b"{\n" + GOOD))
    with pytest.raises(PlanError):
        next(reader)
    assert list(reader) == []


@pytest.mark.parametrize("content", [
    pytest.param(GOOD, id="no-line-end"),
    pytest.param(GOOD + b"\r\n", id="windows-line-end"),
    pytest.param(b"\xef\xbb\xbf" + GOOD + b"\n", id="byte-order-mark"),
    pytest.param(b"\n \r\n" + GOOD + b"\n\t\n\n", id="blank-lines"),
])  # fmt: skip
@pytest.mark.parametrize("opened", [io.BytesIO, lambda content: io.StringIO(content.decode())], ids=["binary", "text"])
def test_byte_order_marks_and_line_endings_are_accepted(content, opened):
    assert list(read_plans(opened(content))) == [PLAN]


def test_a_byte_order_mark_alone_is_an_empty_file():
    assert list(read_plans(io.BytesIO(b"\xef\xbb\xbf"))) == []


def test_a_byte_order_mark_elsewhere_is_an_error():
    with pytest.raises(PlanError, match="line 2: invalid JSON at column 1"):
        list(read_plans(io.BytesIO(GOOD + b"\n\xef\xbb\xbf" + GOOD)))


def test_standard_input_and_output(monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD + b"\n{")))
    reader = read_plans("-")
    assert write_plans("-", [next(reader)]) == 1
    assert capsysbinary.readouterr().out == GOOD + b"\n"
    with pytest.raises(PlanError, match="<stdin>:2: invalid JSON"):
        next(reader)
    assert not sys.stdin.closed


def test_a_text_file_that_is_not_text_says_how_to_open_it(tmp_path):
    path = tmp_path / "plans.jsonl"
    path.write_bytes(GOOD + b"\n\xff\n" + GOOD)
    with path.open(encoding="utf-8") as file, pytest.raises(PlanError, match='mode "rb"'):
        list(read_plans(file, on_error="skip"))


def test_a_file_is_closed_if_the_reader_opened_it(tmp_path):
    path = tmp_path / "plans.jsonl"
    path.write_bytes(GOOD)
    with path.open("rb") as file:
        assert list(read_plans(file)) == [PLAN]
        assert not file.closed
    with read_plans(path) as reader:  # left early: an open file would be a ResourceWarning, hence an error
        pass
    assert list(reader) == []


def test_an_unknown_on_error_value():
    with pytest.raises(ConfigError, match='on_error is "ignore"'):
        read_plans(io.BytesIO(), on_error="ignore")


@given(plans())
def test_every_plan_survives_the_file(plan):
    binary, text = io.BytesIO(), io.StringIO()
    assert write_plans(binary, [plan, plan]) == write_plans(text, iter([plan, plan])) == 2
    assert binary.getvalue().decode() == text.getvalue()
    binary.seek(0)
    assert list(read_plans(binary)) == [plan, plan]


def test_non_ascii_letters_are_not_escaped(tmp_path):
    write_plans(tmp_path / "plans.jsonl", [EditPlan("Äpfel 🍎", (Edit.insert("Äpfel"),))])
    text = (tmp_path / "plans.jsonl").read_text(encoding="utf-8")
    assert text == '{"source": "Äpfel 🍎", "edits": [{"insert": "Äpfel"}]}\n'


def test_a_failed_write_leaves_the_old_file_only(tmp_path):
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"old")

    def broken():
        yield PLAN
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_plans(path, broken())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["plans.jsonl"]


def test_a_file_may_be_rewritten_from_itself(tmp_path):
    path = tmp_path / "plans.jsonl"
    path.write_bytes(GOOD + b"\r\n\r\n" + GOOD)
    assert write_plans(path, read_plans(path)) == 2
    assert path.read_bytes() == (GOOD + b"\n") * 2


def test_links_and_permissions_are_kept(tmp_path):
    kept, link = tmp_path / "kept.jsonl", tmp_path / "link.jsonl"
    kept.write_bytes(b"old")
    kept.chmod(0o640)
    link.symlink_to(kept)
    write_plans(link, [PLAN])
    assert link.is_symlink()
    assert kept.read_bytes() == GOOD + b"\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_devices_are_not_replaced():
    assert write_plans(os.devnull, [PLAN]) == 1
    assert not os.path.isfile(os.devnull)


def test_numbers_that_are_not_json_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_jsonl(io.StringIO(), [{"log_prob": float("-inf")}])


class LazyFile:
    """A file object whose lines are made on demand."""

    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        plan = {"source": "word " * 400, "edits": [{"delete": "word"}]}
        return (json.dumps(plan).encode() + b"\n" for _ in range(self.lines))

    def write(self, data):
        self.lines += 1

    def flush(self):
        pass


def test_memory_does_not_grow_with_the_file():
    """10,000 lines have 20 MB of text; reading and writing them needs less than 1 MB."""
    written = LazyFile(0)
    tracemalloc.start()
    try:
        assert write_plans(written, read_plans(LazyFile(10_000))) == 10_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written.lines == 10_000
    assert peak < 1_000_000
