"""Invalid and unusual inputs, each with the expected exit status of `redraft`: the table of test_bad_input.py.

0: a valid result. 1: invalid lines were skipped. 2: refused with a message (the default).
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCRIPTED = f"scripted:{ROOT}/examples/by_hand.json"
SOURCE = "The artisans remain old ."
BOMB = "a" * 40 + "!"  # a sentence for expressions with catastrophic backtracking
PHYSICIAN = "The physician commenced the procedure with a scalpel."

Content = str | bytes | Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    name: str
    argv: Sequence[str]
    files: dict[str, Content] = field(default_factory=dict)
    status: int = 2
    says: Sequence[str] = ()  # words of the message
    stdin: bytes = b""


def plan(*edits: Any, source: Any = SOURCE, **more: Any) -> str:
    return json.dumps({"source": source, "edits": list(edits), **more}) + "\n"


# ---- plan files: (name, content, status of `plan check`, status of `simplify`)

Plans = Iterator[tuple[str, Content, int, int]]


def _bad(**contents: Content) -> Plans:
    return ((name, content, 2, 2) for name, content in contents.items())


def _good(**contents: Content) -> Plans:
    return ((name, content, 0, 0) for name, content in contents.items())


def json_plans() -> Plans:
    yield from _good(
        empty="",
        newline="\n",
        no_edits='{"source": "a"}\n',
        source_empty='{"source": ""}\n',
        source_empty_with_edits=plan({"insert": "old"}, source=""),
        surrogate_pair='{"source": "a \\ud83d\\ude00 b"}\n',
        no_newline_at_the_end=plan().rstrip("\n"),
        crlf=plan().replace("\n", "\r\n"),
        blank_lines=plan() + "\n\n" + plan(),
        bom=b"\xef\xbb\xbf" + plan().encode(),
        line_separator='{"source": "a \u2028 b"}\n',
        next_line='{"source": "a \x85 b"}\n',
        nul_escaped='{"source": "a\\u0000b"}\n',
        strength=plan(strength="light"),
        strength_null=plan(strength=None),
        spaces_around="  " + plan(),
        bom_alone=b"\xef\xbb\xbf",
    )
    yield from _bad(
        broken='{"source": "a"\n',
        trailing_comma='{"source": "a", "edits": [],}\n',
        single_quotes="{'source': 'a'}\n",
        bare_word="hello\n",
        number="12\n",
        null="null\n",
        true="true\n",
        string='"abc"\n',
        list="[]\n",
        nan="NaN\n",
        list_of_plans=json.dumps([{"source": "a"}]) + "\n",
        two_on_a_line='{"source":"a"}{"source":"b"}\n',
        pretty_printed=json.dumps({"source": "a"}, indent=1) + "\n",
        no_source='{"edits": []}\n',
        empty_object="{}\n",
        source_null='{"source": null}\n',
        source_number='{"source": 1}\n',
        source_list='{"source": ["a"]}\n',
        source_object='{"source": {}}\n',
        edits_null='{"source": "a", "edits": null}\n',
        xml="<plan/>\n",
        edits_object='{"source": "a", "edits": {}}\n',
        edits_string='{"source": "a", "edits": "x"}\n',
        edit_null=plan(None),
        edit_string=plan("old"),
        edit_list=plan([]),
        edit_empty=plan({}),
        edit_number=plan(3),
        unknown_key='{"source": "a", "edit": []}\n',
        unknown_edit_key=plan({"insert": "old", "wieght": 1}),
        two_kinds=plan({"insert": "old", "delete": "old"}),
        kind_number=plan({"insert": 3}),
        csv="a,b\n",
        kind_null=plan({"insert": None}),
        kind_list=plan({"insert": ["old"]}),
        kind_true=plan({"insert": True}),
        kind_object=plan({"delete": {"old": 1}}),
        same_key_twice='{"source": "a", "source": "b"}\n',
        edit_key_twice='{"source": "a b", "edits": [{"insert": "a", "insert": "b"}]}\n',
        comment="// plans\n",
        deep_lists='{"source": "a", "edits": ' + "[" * 20_000 + "]" * 20_000 + "}\n",
        unclosed="[" * 100_000 + "\n",
        deep_objects='{"source":' * 20_000 + "1" + "}" * 20_000 + "\n",
        split_false=plan({"split": False}),
        deep_900='{"source": "a", "edits": ' + "[" * 900 + "]" * 900 + "}\n",
        split_null=plan({"split": None}),
        long_key='{"' + "k" * 100_000 + '": 1}\n',
        many_keys="{" + ",".join(f'"k{i}":1' for i in range(5_000)) + "}\n",
        split_empty=plan({"split": ""}),
        split_number=plan({"split": 1}),
        split_with=plan({"split": "old", "with": ["x"]}),
        split_anywhere_with_span=plan({"split": True, "span": [0, 3]}),
        strength_number=plan(strength=1),
        strength_unknown=plan(strength="huge"),
        strength_list=plan(strength=["light"]),
        strength_true=plan(strength=True),
        bom_in_line_2=plan().encode() + b"\xef\xbb\xbf" + plan().encode(),
        utf16=plan().encode("utf-16"),
        utf32=plan().encode("utf-32"),
        nuls=b"\0" * 1000,
        nul_inside=b'{"source": "a\0b"}\n',
        latin1=plan(source="café").replace("\\u00e9", "é").encode("latin-1"),
        overlong=b'{"source": "\xc0\xaf"}\n',
        surrogate_bytes=b'{"source": "\xed\xa0\x80"}\n',
        cut_in_a_character='{"source": "é'.encode()[:-1],
        carriage_returns_alone=plan().replace("\n", "\r") * 2,
        surrogate='{"source": "a \\ud800 b"}\n',
        surrogate_in_phrase='{"source": "a", "edits": [{"insert": "\\udfff"}]}\n',
        gzip=gzip.compress(plan().encode()),
        surrogate_in_note='{"source": "a", "edits": [{"insert": "a", "note": "\\udfff"}]}\n',
        digits="9" * 5_000 + "\n",
        surrogate_in_key='{"source": "a", "\\ud800": 1}\n',
        good_then_bad=plan() + "{\n" + plan(),
        control='{"source": "\x01"}\n',
        random_bytes=random.Random(1).randbytes(5_000),
        half_an_escape='{"source": "\\u12"}\n',
        tabs='{"source": "a\tb"}\n',
    )


def number_plans() -> Plans:
    def written(key: str, value: str) -> str:
        return f'{{"source": "{SOURCE}", "edits": [{{"insert": "old", "{key}": {value}}}]}}\n'

    for value in ("0", "-0.0", "1e308", "1e-400", "1e15", "0.5", "1E3"):
        yield f"weight {value}", written("weight", value), 0, 0
    for value in (
        "NaN",
        "Infinity",
        "-Infinity",
        "-1",
        "1e400",
        '"1"',
        "null",
        "true",
        "[]",
        "{}",
        "9" * 400,
        "9" * 5_000,
        "01",
        "1.",
        ".5",
        "0x10",
        "1_000",
        "+1",
    ):
        yield f"weight {value[:10]} {len(value)}", written("weight", value), 2, 2
    for value in ("0", "1", "0.5", "null"):
        yield f"probability {value}", written("probability", value), 0, 0
    for value in ("NaN", "2", "-0.1", '"x"', "true", "9" * 400, "[0.5]"):
        yield f"probability {value[:10]}", written("probability", value), 2, 2
    for value in ("[20, 23]", "null"):
        yield f"span {value}", written("span", value), 0, 0
    yield "span [0, 3]", written("span", "[0, 3]"), 0, 0  # the span of an insertion may cover another word
    for value in ("[20, 22]", "[19, 21]", "[4, 9]", "[3, 4]"):
        yield f"span {value}", written("span", value), 2, 0
    for value in ("[0, 3]", "[4, 12]", "[20, 25]", "[0, 25]"):
        yield f"span {value} of a deletion", written("span", value).replace("insert", "delete"), 2, 0
    for value in (
        "[-1, 3]",
        "[3, 3]",
        "[5, 2]",
        "[0, 999]",
        "[0]",
        "[0, 1, 2]",
        "[0.0, 3.0]",
        '["0", "3"]',
        "[true, false]",
        "[NaN, 3]",
        "{}",
        '"0-3"',
        "5",
        f"[{'9' * 400}, {'9' * 401}]",
        "[0, 1e3]",
        "[]",
        "[null, null]",
    ):
        yield f"span {value[:14]}", written("span", value), 2, 2
    for value, status in (("3", 2), ("null", 0), ("[]", 2), ('""', 0), ("true", 2), ('"\\u001b[31m"', 0)):
        yield f"note {value}", written("note", value), status, status


def edit_plans() -> Plans:
    yield from _bad(
        insert_and_delete=plan({"insert": "old"}, {"delete": "old"}),
        in_another_case=plan({"insert": "Old"}, {"delete": "old"}),
        at_one_span=plan({"insert": "old", "span": [20, 23]}, {"delete": "old", "span": [20, 23]}),
        by_itself=plan({"substitute": "old", "with": ["OLD"]}),
        without_with=plan({"substitute": "old"}),
        with_nothing=plan({"substitute": "old", "with": []}),
        with_number=plan({"substitute": "old", "with": [1]}),
        with_null=plan({"substitute": "old", "with": None}),
        with_object=plan({"substitute": "old", "with": {"a": 1}}),
        with_list=plan({"substitute": "old", "with": [["x"]]}),
        with_on_insert=plan({"insert": "old", "with": ["x"]}),
        with_empty=plan({"substitute": "old", "with": [""]}),
        with_blank=plan({"substitute": "old", "with": ["young", " "]}),
        phrase_empty=plan({"insert": ""}),
        phrase_blank=plan({"insert": " \t "}),
        phrase_nbsp=plan({"insert": "\u00a0"}),
    )
    yield from _good(
        substitute_and_keep=plan({"substitute": "old", "with": ["young"]}, {"insert": "old"}),
        twice=plan(*[{"insert": "old"}] * 2),
        fifty_times=plan(*[{"delete": "old"}] * 50),
        inside_another=plan({"insert": "The old"}, {"delete": "old"}),
        every_word=plan(*({"delete": word} for word in SOURCE.split())),
        full_stop=plan({"insert": "."}),
        signs=plan({"insert": "?!"}),
        zero_width=plan({"insert": "\u200b"}),
        combining=plan({"insert": "o\u0301"}),
        mark_alone=plan({"insert": "\u0301"}),
        two_lines=plan({"insert": "old\nyoung"}),
        nul=plan({"insert": "old\0"}),
        emoji=plan({"insert": "👩‍👩‍👧"}),
        escape=plan({"insert": "\x1b[31mold"}),
        long_phrase=plan({"insert": "old " * 5_000}),
        with_a_string=plan({"substitute": "old", "with": "young"}),
        weights=plan({"insert": "old", "weight": 1e308}, {"delete": "remain", "weight": 1e308}),
        splits=plan(*[{"split": True}] * 50),
        many_targets=plan({"substitute": "old", "with": [f"w{i}" for i in range(5_000)]}),
        split_unknown=plan({"split": "zebra"}),
        a_thousand_alike=plan(*[{"delete": "old"}] * 1_000),
        long_word=json.dumps({"source": "a" * 100_000}) + "\n",
        long_sentence=json.dumps({"source": "word " * 5_000}) + "\n",
    )
    yield "special token", plan({"insert": "</s>"}), 0, 2
    for name, edits in (
        ("a cycle", [{"substitute": "old", "with": ["young"]}, {"substitute": "young", "with": ["old"]}]),
        ("right to left", [{"delete": "\u202eold"}]),
        ("deleted elsewhere", [{"delete": "zebra"}]),
        ("substituted elsewhere", [{"substitute": "zebra", "with": ["horse"]}]),
        ("part of a word", [{"delete": "artisan"}]),
    ):
        yield name, plan(*edits), 2, 0
    yield "a hundred thousand edits", plan(*[{"insert": "old"}] * 100_000), 0, 2
    yield "thousands of deletions alike", plan(*[{"delete": "old"}] * 20_000), 0, 2
    yield "thousands of edits", plan(*({"insert": f"w{i}"} for i in range(20_000))), 0, 2


def plans() -> Iterator[Case]:
    for name, content, checked, simplified in (*json_plans(), *number_plans(), *edit_plans()):
        for command, status in (
            (["plan", "check"], checked),
            (["simplify", "--model", SCRIPTED, "--plan"], simplified),
        ):
            yield Case(f"{command[0]} file {name}", [*command, "p.jsonl"], {"p.jsonl": content}, status)
    skip = ["simplify", "--model", SCRIPTED, "--on-error", "skip"]
    yield Case(
        "skipped plan", [*skip, "--plan", "p.jsonl"], {"p.jsonl": plan() + "{\n" + plan()}, 1, ["p.jsonl:2", "skipped"]
    )
    yield Case("skipped lines", [*skip, "--input", "i"], {"i": "a b\nc d\n".encode("utf-16")}, 1, ["i:1"])
    yield Case("skipped bytes", [*skip, "--input", "i"], {"i": b"a\n\xff\xfe\nb\n"}, 1, ["i:2", "0xff"])
    yield Case(
        "shown: escape", ["plan", "show", "p"], {"p": plan({"delete": "\x1b]0;x\x07"}, source="a \x1b[31m b")}, 0
    )
    yield Case("shown: bad line", ["plan", "show", "p"], {"p": plan() + "{\n"}, 2, ["p:2"])
    yield Case("plans from standard input", ["plan", "check", "-"], {}, 2, ["<stdin>:1"], b"{")
    yield Case(
        "plans differ from sentences",
        ["simplify", "--model", SCRIPTED, "--input", "i", "--plan", "p"],
        {"i": "x\n", "p": plan()},
        2,
        ["line 1"],
    )
    yield Case(
        "more plans than sentences",
        ["simplify", "--model", SCRIPTED, "--input", "i", "--plan", "p"],
        {"i": SOURCE + "\n", "p": plan() * 2},
        2,
        ["i ends after 1 line"],
    )
    yield Case(
        "more sentences than plans",
        ["simplify", "--model", SCRIPTED, "--input", "i", "--plan", "p"],
        {"i": f"{SOURCE}\n" * 2, "p": plan()},
        2,
        ["p ends after 1 line"],
    )


# ---- files of the wrong kind


def _link(to: str) -> Callable[[Path], None]:
    return lambda path: os.symlink(to, path)


def files() -> Iterator[Case]:
    readers: list[list[str]] = [
        ["plan", "check", "x"],
        ["plan", "show", "x"],
        ["simplify", "--model", SCRIPTED, "--plan", "x"],
        ["simplify", "--model", SCRIPTED, "--input", "x"],
        ["simplify", "--model", SCRIPTED, "--document", "x"],
        ["simplify", "--settings", "x", "--model", SCRIPTED, "a"],
        ["simplify", "--model", "scripted:x", "a"],
        ["plan", "predict", "--model", SCRIPTED, "--keep", "x", "a"],
        ["plan", "predict", "--model", SCRIPTED, "--glossary", "x", "a"],
        ["plan", "predict", "--model", SCRIPTED, "--planner", "x", "a"],
        ["plan", "predict", "--model", SCRIPTED, "--input", "x"],
        ["align", "--aligner", "exact", "--input", "x"],
        ["align", "--aligner", "exact", "--gold", "x"],
        ["align", "--aligner", "exact", "--gold", "x.json"],
        ["align", "--encoder", "x", "--input", "t"],
        ["plan", "extract", "--aligner", "exact", "--source", "x", "--reference", "x"],
        ["evaluate", "--source", "x", "--reference", "x", "--outputs", "x"],
        ["experiment", "x", "--out", "o"],
        ["evaluate", "--corpus", "asset", "--data", "x", "--outputs", "x"],
        ["evaluate", "--plans", "x", "--oracle", "x"],
        ["check", "--source", "x", "--output", "t"],
        ["check", "--source", "t", "--output", "x"],
        ["check", "--checker", "x", "--source", "t", "--output", "t2"],
        ["check", "--keep", "x", "--source", "t", "--output", "t2"],
        ["train", "--train", "x", "--valid", "x", "--out", "o"],
        ["train", "--model", "./x", "--train", "t", "--valid", "t", "--out", "o"],
        ["train-planner", "--pairs", "x", "--synonyms", "x", "--difficulty", "x", "--out", "o"],
        ["train-checker", "--pairs", "x", "--inference", "x", "--judged", "x", "--out", "o"],
        ["train-aligner", "--gold", "x", "--encoder", "x", "--out", "o"],
        ["tune", "--model", SCRIPTED, "--plan", "x", "--reference", "x", "--out", "o"],
    ]
    kinds: dict[str, Content] = {"folder": os.mkdir, "loop": _link("x"), "dangling link": _link("nowhere")}
    for kind, make in kinds.items():
        for argv in readers:
            words = " ".join(word for word in argv if word not in (SCRIPTED, "--model"))
            if kind == "folder" and argv[:2] == ["plan", "predict"] and "--planner" in argv:
                words += " (empty)"
            name = "x.json" if "x.json" in argv else "x"
            made = _link("x.json") if kind == "loop" and name == "x.json" else make
            yield Case(f"{kind}: {words}", argv, {name: made, "t": "a b\ta b\n", "t2": "a b\ta c\n"})
    for argv in (
        ["plan", "check", "x"],
        ["simplify", "--model", SCRIPTED, "--input", "x"],
        ["simplify", "--model", SCRIPTED, "--settings", "x", "a"],
        ["align", "--aligner", "exact", "--input", "x"],
        ["plan", "extract", "--aligner", "exact", "--source", "x", "--reference", "x"],
    ):
        words = " ".join(word for word in argv if word not in (SCRIPTED, "--model"))
        yield Case(f"pipe without a writer: {words}", argv, {"x": os.mkfifo}, 2, ["x is a named pipe"])
    for argv in (
        ["plan", "check"],
        ["simplify", "--model", SCRIPTED, "--input"],
        ["simplify", "--model", SCRIPTED, "--document"],
        ["plan", "predict", "--model", SCRIPTED, "a", "--keep"],
        ["simplify", "--model", SCRIPTED, "a", "--settings"],
        ["align", "--aligner", "exact", "--input"],
        ["align", "--aligner", "exact", "--gold"],
        ["check", "--source", "t", "--output"],
        ["evaluate", "--source", "t", "--reference", "t", "--outputs"],
        ["experiment", "--out", "o"],
        ["simplify", "a", "--model"],
    ):
        end = "scripted:/dev/zero" if argv[-1] == "--model" else "/dev/zero"
        yield Case(f"without end: {' '.join(argv).replace(SCRIPTED, '')}", [*argv, end], {"t": "a\n"}, 2, ["/dev/zero"])
    for name, what in (
        ("a\nb", "new line"),
        ("\x1b[31mred", "escape"),
        ("", "nothing"),
        ("a\0b", "NUL"),
        ("a" * 5_000, "long"),
        ("a\udcff", "surrogate"),
    ):
        for argv in (
            ["plan", "check"],
            ["simplify", "--model", SCRIPTED, "--input"],
            ["align", "--aligner", "exact", "--gold"],
            ["evaluate", "--source", "t", "--reference", "t", "--outputs"],
            ["experiment", "--out", "o"],
        ):
            yield Case(f"{what} for a name: {' '.join(argv).replace(SCRIPTED, '')}", [*argv, name], {"t": "a\n"})
    for option in ("--input", "--plan", "--document", "--keep", "--glossary", "--settings", "--out"):
        yield Case(f"NUL behind {option}", ["simplify", "--model", SCRIPTED, "a", option, "a\0b"], {}, 2, ["NUL"])
    score = ["evaluate", "--source", "s", "--reference", "b.xz", "--outputs", "s"]
    for what, content in (
        ("a bomb", lzma.compress(b"a" * 70_000_000, preset=0)),
        ("cut", lzma.compress(b"a" * 3000)[:-20]),
        ("plain text", "a\n"),
        ("empty", b""),
        ("with a wrong sum", lzma.compress(b"a\n")[:-6] + b"xxxxYZ"),
    ):
        yield Case(f".xz that is {what}", score, {"s": "a\n", "b.xz": content}, 2, ["b.xz"])
    yield Case(
        "gzip as sentences",
        ["simplify", "--model", SCRIPTED, "--input", "b.gz"],
        {"b.gz": gzip.compress(b"a\n" * 999)},
        2,
        ["b.gz:1"],
    )
    yield Case(
        "random bytes as sentences",
        ["simplify", "--model", SCRIPTED, "--input", "x"],
        {"x": random.Random(2).randbytes(9_999)},
        2,
        ["x:"],
    )
    yield Case(
        "random bytes as a document",
        ["simplify", "--model", SCRIPTED, "--document", "x"],
        {"x": random.Random(3).randbytes(9_999)},
        2,
        ["x"],
    )


# ---- output files must not be input files


def outputs() -> Iterator[Case]:
    run = ["simplify", "--model", SCRIPTED]
    result = json.dumps({"source": "something else", "output": "z"}) + "\n"
    yield from (
        Case("out is the input", [*run, "--input", "i", "--out", "i"], {"i": "x\n"}, 2, ["--out i"]),
        Case(
            "out is a link to the input",
            [*run, "--input", "i", "--out", "l"],
            {"i": "x\n", "l": _link("i")},
            2,
            ["--out l"],
        ),
        Case("out is the plan", [*run, "--plan", "p", "--out", "p"], {"p": plan()}, 2, ["--out p"]),
        Case("out is the document", [*run, "--document", "d", "--out", "d"], {"d": "x\n"}, 2, ["--out d"]),
        Case(
            "out is the settings",
            [*run, "a", "--settings", "s.toml", "--out", "s.toml"],
            {"s.toml": "beams = 4\n"},
            2,
            ["--out s.toml"],
        ),
        Case(
            "out is the keep file",
            [*run, "--plan", "predict", "--keep", "k", "--out", "k", "a"],
            {"k": "x\n"},
            2,
            ["--out k"],
        ),
        Case(
            "out is the glossary",
            [*run, "--plan", "predict", "--glossary", "k", "--out", "k", "a"],
            {"k": "x\ty\n"},
            2,
            ["--out k"],
        ),
        Case(
            "out is the table",
            ["simplify", "--model", "scripted:t", "a", "--out", "t"],
            {"t": '{"vocab": ["a"]}'},
            2,
            ["--out t"],
        ),
        Case("out is a folder", [*run, "a", "--out", "."], {}, 2, ["is a folder"]),
        Case("out in no folder", [*run, "a", "--out", "x/y"], {}, 2, ["parent folder"]),
        Case("out without a name", [*run, "a", "--out", ""], {}, 2, ["--out"]),
        Case(
            "resume a longer file",
            [*run, "--input", "i", "--out", "o", "--resume"],
            {"i": "x\n", "o": "1\n2\n"},
            2,
            ["--out o"],
        ),
        Case(
            "resume plain lines as JSON",
            [*run, "--input", "i", "--out", "o", "--resume", "--json"],
            {"i": "x\ny\n", "o": "text\n"},
            2,
            ["o, line 1"],
        ),
        Case(
            "resume of other sentences",
            [*run, "--input", "i", "--out", "o", "--resume", "--json"],
            {"i": "x\ny\n", "o": result},
            2,
            ["o, line 1"],
        ),
        Case("resume without a file", [*run, "--input", "i", "--resume"], {"i": "x\n"}, 2, ["--out"]),
        Case(
            "a page over its source",
            ["plan", "extract", "--aligner", "exact", "--source", "a.html", "--reference", "b", "--html", "a.html"],
            {"a.html": "x\n", "b": "x\n"},
            2,
            ["a.html"],
        ),
        Case(
            "a report over the outputs",
            [*_evaluate("c.html"), "--report", "c.html"],
            {"a": "x\n", "b": "x\n", "c.html": "x\n"},
            2,
            ["c.html"],
        ),
        Case(
            "a report over the references",
            ["evaluate", "--source", "a", "--reference", "b.md", "--outputs", "c", "--report", "b.md"],
            {"a": "x\n", "b.md": "x\n", "c": "x\n"},
            2,
            ["b.md"],
        ),
        Case("a report of no kind", [*_evaluate(), "--report", "r.xyz"], _TEXTS, 2, ["r.xyz"]),
        Case("a report in no folder", [*_evaluate(), "--report", "x/r.html"], _TEXTS, 2, ["x/r.html"]),
        Case(
            "tune into a file",
            ["tune", "--model", SCRIPTED, "--plan", "p", "--reference", "r", "--out", "r"],
            {"p": plan(), "r": "x\n"},
            2,
            ["r"],
        ),
        Case(
            "train into a file",
            ["train", "--train", "t", "--valid", "t", "--out", "t"],
            {"t": "a b\ta\n" * 9},
            2,
            ["t"],
        ),
        Case(
            "train into a used folder",
            ["train", "--train", "t", "--valid", "t", "--out", "o"],
            {"t": "a b\ta\n" * 9, "o": _folder({"mine": "x"})},
            2,
            ["o"],
        ),
        Case(
            "train into a damaged folder",
            ["train", "--train", "t", "--valid", "t", "--out", "o"],
            {"t": "a b\ta\n" * 9, "o": _folder({"training.json": "{"})},
            2,
            ["training.json"],
        ),
        Case(
            "train into a folder of nonsense",
            ["train", "--train", "t", "--valid", "t", "--out", "o"],
            {"t": "a b\ta\n" * 9, "o": _folder({"training.json": "[]"})},
            2,
            ["training.json"],
        ),
        Case(
            "experiment into a page without marks",
            ["experiment", "e", "--out", "o", "--into", "p.md"],
            {"e": "", "p.md": "x\n"},
            2,
            ["p.md"],
        ),
    )


_TEXTS: dict[str, Content] = {"a": "x\n", "b": "x\n", "c": "x\n"}


def _evaluate(outputs: str = "c") -> list[str]:
    return ["evaluate", "--source", "a", "--reference", "b", "--outputs", outputs]


def _folder(contents: dict[str, str | bytes]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        for name, content in contents.items():
            (path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return make


# ---- user constraints


def user_constraints() -> Iterator[Case]:
    keeps: list[tuple[str, Content, int, str]] = [
        ("all", "/.*/\n", 0, ""),
        ("nothing between slashes", "//\n", 0, ""),
        ("an empty match", "/(?=x)/\n", 0, ""),
        ("a bomb", "/^(a|aa)+$/\n", 2, "k, line 1"),
        ("another bomb", "x\n/(a|a)*[bc]/\n", 2, "k, line 2"),
        ("broken", "/(/\n", 2, "k, line 1"),
        ("too many times", "/a{99999999999}/\n", 2, "k, line 1"),
        ("deep", "/" + "(" * 450 + "a" + ")" * 450 + "/\n", 2, "k, line 1"),
        ("long", "/" + "a" * 5_000 + "/\n", 2, "k, line 1"),
        ("deep and long", "/" + "(" * 5_000 + "a" + ")" * 5_000 + "/\n", 2, "k, line 1"),
        ("a look behind", "/(?<=a+)b/\n", 2, "k, line 1"),
        ("recursion", "/(?R)/\n", 2, "k, line 1"),
        ("a bad escape", "/\\q/\n", 2, "k, line 1"),
        ("a bad range", "/[z-a]/\n", 2, "k, line 1"),
        ("a bad group", "/(?P<1>a)/\n", 2, "k, line 1"),
        ("no such group", "/\\9/\n", 2, "k, line 1"),
        ("a backslash", "/\\/\n", 2, "k, line 1"),
        ("many words", "".join(f"w{i}\n" for i in range(5_000)), 0, ""),
        ("NULs", b"\0\0\n", 0, ""),
        ("remarks", "# x\n   # y\n", 0, ""),
        ("Latin-1", b"caf\xe9\n", 2, "k, line 1"),
        ("UTF-16", "word\n".encode("utf-16"), 2, "k, line 1"),
        ("empty", "", 0, ""),
        ("a byte order mark", b"\xef\xbb\xbfphysician\n", 0, ""),
        ("a full stop", ".\n", 0, ""),
        ("zero width", "\u200b\n", 0, ""),
        ("right to left", "\u202ephysician\n", 0, ""),
        ("a long line", "a" * 100_000 + "\n", 0, ""),
        ("a slash", "/\n", 0, ""),
        ("next line", "physician\x85scalpel\n", 0, ""),
        ("windows", "physician\r\nscalpel\r\n", 0, ""),
    ]
    predict = ["plan", "predict", "--model", SCRIPTED]
    for name, content, status, says in keeps:
        sentence = BOMB if "bomb" in name else PHYSICIAN
        yield Case(f"keep {name}", [*predict, "--keep", "k", sentence], {"k": content}, status, [says])
    glossaries: list[tuple[str, Content, int]] = [
        ("cycle", "physician\tdoctor\ndoctor\tphysician\n", 0),
        ("itself", "physician\tPhysician\n", 0),
        ("no tab", "physician doctor\n", 2),
        ("two tabs", "a\tb\tc\n", 2),
        ("empty target", "physician\t\n", 2),
        ("empty source", "\tdoctor\n", 2),
        ("blanks", " \t \n", 0),
        ("two targets", "physician\tdoctor\nphysician\tmedic\n", 0),
        ("bomb", "/^(a|aa)+$/\tx\n", 2),
        ("broken pattern", "/(/\tx\n", 2),
        ("a group in a target", "/phy(.*)an/\t\\1\n", 0),
        ("line separator", "physician\tdoc\u2028tor\n", 0),
        ("long target", "physician\t" + "doctor " * 5_000 + "\n", 0),
        ("NUL", "physician\tdo\0ctor\n", 0),
        ("overlap", "the physician\tshe\nphysician commenced\tdoctor began\n", 0),
        ("formula", "physician\t=cmd|' /C calc'!A0\n", 0),
        ("Latin-1", b"caf\xe9\tx\n", 2),
        ("only tabs", "\t\t\t\n", 0),
        ("chain", "physician\tdoctor\ndoctor\tmedic\nmedic\tphysician\n", 0),
    ]
    for name, content, status in glossaries:
        sentence = BOMB if name == "bomb" else PHYSICIAN
        yield Case(
            f"glossary {name}",
            [*predict, "--glossary", "g", sentence],
            {"g": content},
            status,
            ["g, line 1"] if status else [],
        )


# ---- sentences


def sentences() -> Iterator[Case]:
    texts: list[tuple[str, str, int]] = [
        ("empty", "", 0),
        ("blanks", "   ", 0),
        ("NUL", "a\0b", 2),
        ("words", "word " * 2_000, 0),
        ("letters", "a" * 50_000, 0),
        ("punctuation", "?!...", 0),
        ("emoji", "😀" * 500, 0),
        ("right to left", "\u202eabc def ghi", 0),
        ("marks", "a" + "\u0301" * 2_000, 0),
        ("surrogate", "a \udcff b", 2),
        ("dash", "-the physician", 2),
        ("control characters", "".join(map(chr, range(1, 32))) + " physician", 0),
        ("special tokens", "</s> <s> <pad> <unk> the physician", 0),
        ("HTML", "<script>alert(1)</script> the physician", 0),
        ("format", "{source} %s {0} the physician", 0),
        ("noncharacters", "\ufffe\uffff \U0010ffff the physician", 0),
        ("two lines", "The physician\ncommenced.", 0),
        ("tabs", "The\tphysician\tcommenced .", 0),
        ("line separator", "a\u2028b", 0),
        ("commas", "a, " * 1_000, 0),
        ("brackets", "(" * 5_000, 0),
        ("quotes", '"' * 5_000, 0),
        ("digits", "1" * 5_000, 0),
        ("dots", "a." * 2_000, 0),
        ("hyphens", "a-" * 2_000, 0),
        ("apostrophes", "a'" * 2_000, 0),
        ("Chinese", "他" * 2_000, 0),
        ("address", "http://" + "a/" * 2_000, 0),
        ("placeholders", "<1> <2> {3} [4] __5__", 0),
    ]
    for name, text, status in texts:
        for command in (["plan", "predict"], ["simplify"]):
            yield Case(f"{command[0]} {name}", [*command, "--model", SCRIPTED, text], {}, status)
        if status == 0:
            yield Case(f"document {name}", ["simplify", "--model", SCRIPTED, "--document", "d"], {"d": text}, 0)
            yield Case(f"explain {name}", ["simplify", "--model", SCRIPTED, "--explain", text], {}, 0)


# ---- models and tables


def models() -> Iterator[Case]:
    names = [
        "../../../../etc/passwd",
        "/etc/passwd",
        "/etc",
        "..",
        ".",
        "",
        " ",
        "scripted:",
        "scripted:/etc/passwd",
        "scripted:/dev/null",
        "scripted:/",
        "a/b/c/d",
        "http://127.0.0.1:1/x",
        "file:///etc",
        "nosuchmodel",
        "~/x",
        "facebook/../../etc",
        "-rf",
        "a" * 3000,
        "модель",
        "scripted:../../../../../etc/passwd",
        "//etc",
        "x:y",
        "hf://a/b",
        "..\\..\\x",
        "scripted:scripted:x",
        "a\nb",
        "a b",
        "{source}",
        "%s",
        "scripted:.",
    ]
    for name in names:
        yield Case(f"model {name[:30]!r}", ["simplify", f"--model={name}", SOURCE])


def tables() -> Iterator[Case]:
    def case(name: str, table: Any, status: int = 2) -> Case:
        content = table if isinstance(table, str | bytes) else json.dumps(table)
        return Case(
            f"table {name}",
            ["simplify", "--model", "scripted:t.json", "--plan", "none", "a"],
            {"t.json": content},
            status,
            ["t.json"] if status else [],
        )

    good = (ROOT / "examples" / "by_hand.json").read_text(encoding="utf-8")
    huge = "9" * 400
    row = '{"vocab": ["a"], "log_probs_by_prefix": {"": {"a": %s}}}'
    yield from (
        case("empty", ""),
        case("null", "null"),
        case("list", "[]"),
        case("no words", {}),
        case("words in a string", {"vocab": "abc"}),
        case("vocab empty", {"vocab": []}, 0),
        case("numbers", {"vocab": [1]}),
        case("two in one", {"vocab": ["a b"]}),
        case("an empty word", {"vocab": [""]}),
        case("a word twice", {"vocab": ["a", "a"]}, 0),
        case("NaN", row % "NaN"),
        case("Infinity", row % "Infinity"),
        case("huge", row % f"-{huge}"),
        case(
            "minus infinity",
            '{"vocab": ["a"], "log_probs_by_prefix": {"": {"a": -Infinity}}, "floor_log_prob": -Infinity}',
            0,
        ),
        case("above 0", {"vocab": ["a"], "log_probs_by_last_token": {"a": {"a": 5}}}, 0),
        case("rows in a list", {"vocab": ["a"], "log_probs_by_prefix": [1]}),
        case("rows null", {"vocab": ["a"], "log_probs_by_prefix": None}),
        case("unknown word", {"vocab": ["a"], "log_probs_by_prefix": {"": {"b": -1}}}),
        case("unknown prefix", {"vocab": ["a"], "log_probs_by_prefix": {"b": {"a": -1}}}),
        case("unknown key", {"vocab": ["a"], "x": 1}),
        case("floor null", {"vocab": ["a"], "floor_log_prob": None}),
        case("floor huge", f'{{"vocab": ["a"], "floor_log_prob": -{huge}}}'),
        case("floor true", {"vocab": ["a"], "floor_log_prob": True}),
        case("floor text", {"vocab": ["a"], "floor_log_prob": "-1"}),
        case("deep", "[" * 100_000),
        case("UTF-16", good.encode("utf-16")),
        case("byte order mark", b"\xef\xbb\xbf" + good.encode(), 0),
        case("surrogate", '{"vocab": ["\\ud800"]}'),
        case("device", {"vocab": ["a"], "device": "cuda"}),
        case("digits", row % ("9" * 5_000)),
        case("two last words", {"vocab": ["a", "b"], "log_probs_by_last_token": {"a b": {"a": -1}}}, 0),
        case("cut", good[:200]),
        case("value text", row % '"x"'),
        case("value null", row % "null"),
        case("value true", row % "true"),
        case("value list", row % "[]"),
        case("a row a list", {"vocab": ["a"], "log_probs_by_prefix": {"": ["a"]}}),
        case("a row a number", {"vocab": ["a"], "log_probs_by_prefix": {"": 1}}),
        case("vocab null", {"vocab": None}),
        case("vocab object", {"vocab": {"a": 1}}),
        case("nested words", {"vocab": [["a"]]}),
        case("blank word", {"vocab": [" "]}),
        case("Latin-1", '{"vocab": ["é"]}'.encode("latin-1")),
        case("random", random.Random(4).randbytes(300)),
        case("two objects", '{"vocab": []} {}'),
    )


# ---- settings and numbers


def settings() -> Iterator[Case]:
    bad = {
        "no TOML": "x",
        "unknown": "detla = 2",
        "string": 'beams = "x"',
        "NaN": "delta = nan",
        "inf": "length_penalty = inf",
        "negative": "beams = -1",
        "huge": "beams = 99999999999999999999",
        "digits": "beams = " + "9" * 5_000,
        "true": "beams = true",
        "list": "beams = [1]",
        "short": "lambdas = [1.0]",
        "strings": 'lambdas = ["a", "b", "c"]',
        "number": "lambdas = 3",
        "table": "[beams]\na = 1",
        "date": "delta = 2024-01-01",
        "text": 'delta = "x"',
        "half": "beams = 2.5",
        "method number": "method = 3",
        "method list": 'method = ["edit"]',
        "strict text": 'strict = "no"',
        "strict number": "strict = 3",
        "deep": "a = " + "[" * 5000 + "]" * 5000,
        "early list": "early_stopping = [1.0]",
        "forbid number": "forbid = 7",
        "none beams": 'beams = "none"',
        "none lambdas": 'lambdas = "none"',
        "none strict": 'strict = "none"',
        "none penalty": 'length_penalty = "none"',
        "none candidates": 'candidates = "none"',
        "none gap": 'admit_gap = "none"',
        "nested": "lambdas = [[1.0], 2.0, 3.0]",
        "lambdas true": "lambdas = [true, 1, 1]",
        "lambdas huge": f"lambdas = [{'9' * 400}, 1, 1]",
        "delta huge": f"delta = {'9' * 400}",
        "penalty huge": "length_penalty = 1e308",
        "tokens huge": "max_tokens = 100000000",
        "beams many": "beams = 1000000",
        "twice": "beams = 4\nbeams = 5",
        "UTF-16": "beams = 4\n".encode("utf-16"),
        "Latin-1": b"# caf\xe9\n",
        "NUL": b"beams = \0",
        "cut": 'method = "ed',
        "time": "beams = 07:32:00",
        "object": "beams = {a = 1}",
        "dotted": "beams.a = 1",
        "early number": "early_stopping = 1",
        "tell text": 'tell = "true"',
        "candidates": "beams = 2\ncandidates = 3",
        "JSON": '{"beams": 4}',
        "word": "beams = four",
        "gap NaN": "admit_gap = nan",
        "ahead": "ahead = -1",
        "alpha": "alpha = 0",
    }
    for name, content in bad.items():
        yield Case(
            f"settings {name}",
            ["simplify", "--model", SCRIPTED, "--settings", "s.toml", "--plan", "p"],
            {"s.toml": content, "p": plan({"insert": "old"})},
            2,
            ["s.toml"],
        )
    good = {
        "empty": "",
        "byte order mark": b"\xef\xbb\xbfbeams = 4\n",
        "remarks": "# x\n",
        "windows": b"beams = 4\r\n",
        "whole numbers": "lambdas = [1, 0, 2]\ndelta = 2",
        "none": 'delta = "none"\nwidth = "none"',
    }
    for name, content in good.items():
        yield Case(
            f"settings {name}",
            ["simplify", "--model", SCRIPTED, "--settings", "s.toml", "--plan", "p"],
            {"s.toml": content, "p": plan({"insert": "old"})},
            0,
        )


def flags() -> Iterator[Case]:
    wrong = [
        ("--beams", "0"),
        ("--beams", "x"),
        ("--beams", "1e3"),
        ("--beams", "-3"),
        ("--delta", "nan"),
        ("--delta", "-1"),
        ("--lambdas", "1,2"),
        ("--lambdas", "a,b,c"),
        ("--lambdas", "nan,1,1"),
        ("--lambdas", "1e400,1,1"),
        ("--lambdas", ""),
        ("--lambdas", "1,,1"),
        ("--batch-size", "0"),
        ("--batch-size", "-1"),
        ("--batch-size", "9999999999"),
        ("--batch-size", ""),
        ("--batch-size", "²"),
        ("--workers", "0"),
        ("--workers", "many"),
        ("--workers", "100000"),
        ("--threads", "-1"),
        ("--threads", "999999999"),
        ("--max-tokens", "0"),
        ("--min-tokens", "-1"),
        ("--candidates", "999"),
        ("--candidates", "0"),
        ("--length-penalty", "nan"),
        ("--device", "nosuch"),
        ("--device", "cuda:99"),
        ("--device", ""),
        ("--dtype", "int4"),
        ("--variants", "x"),
        ("--method", "x"),
        ("--method", ""),
        ("--on-error", "x"),
        ("--prompt", "x"),
        ("--strength", "2"),
        ("--nosuch", "1"),
        ("--alpha", "0"),
        ("--ahead", "-1"),
        ("--no-repeat-ngram", "-1"),
        ("--end", "x"),
        ("--stop", "y"),
        ("--beams", "1000000"),
        ("--max-tokens", "100000000"),
        ("--min-tokens", "100000"),
        ("--width", "100000"),
        ("--length-penalty", "-1e308"),
        ("--length-penalty", "1e308"),
        ("--beams", "9" * 5_000),
        ("--alpha", "9" * 30),
        ("--settings", ""),
        ("--settings", "nowhere"),
        ("--trace", "x"),
        ("--resume", "x"),
        ("--graphs=1", "x"),
        ("--strength", "light"),
        ("--style", "turk"),
        ("--keep", "x"),
    ]
    for flag, value in wrong:
        yield Case(f"{flag} {value[:12]!r}", ["simplify", "--model", SCRIPTED, flag, value, SOURCE], {}, 2)
    odd = [
        ("--alpha", "1000000000"),
        ("--no-repeat-ngram", "1"),
        ("--delta", "0"),
        ("--delta", "1e308"),
        ("--delta", "inf"),
        ("--lambdas", "1e308,1e308,1e308"),
        ("--lambdas", "0,0,0"),
        ("--admit-gap", "inf"),
        ("--max-tokens", "1"),
        ("--beams", "1"),
        ("--end", "met"),
        ("--beams", "９"),
        ("--length-penalty", "-10"),
        ("--length-penalty", "10"),
        ("--width", "1"),
        ("--candidates", "20"),
        ("--batch-size", "999999999"),
        ("--min-tokens", "10000"),
        ("--alpha", "1"),
        ("--ahead", "0"),
    ]
    for flag, value in odd:
        yield Case(
            f"odd {flag} {value}",
            ["simplify", "--model", SCRIPTED, flag, value, "--plan", str(ROOT / "examples" / "by_hand.jsonl")],
            {},
            0,
        )
    for strength in (
        "nan",
        "inf",
        "-1",
        "2",
        "0.5,nan",
        "0.1,0.2,0.3,0.4",
        ",",
        "",
        "light,strong",
        "1e400",
        "0.5,-1",
        "medium ",
        "½",
    ):
        yield Case(f"strength {strength!r}", ["plan", "predict", "--strength", strength, PHYSICIAN], {}, 2)
    for argv in (
        ["nosuch"],
        ["plan"],
        ["plan", "nosuch"],
        ["plan", "check"],
        ["plan", "check", "a", "b"],
        ["align"],
        ["evaluate"],
        ["check"],
        ["train"],
        ["tune"],
        ["experiment"],
        ["serve", "--port", "x"],
        ["serve", "--port", "0.5"],
        ["serve", "--port", "99999"],
        ["bench", "--repeats", "0"],
        ["bench", "--batch-size", "x"],
        ["--nosuch"],
        ["simplify", "--plan"],
        ["align", "--input", "a", "--gold", "b"],
        ["align", "--aligner", "magic", "--input", "a"],
        ["align", "--aligner", "vectors", "--input", "a"],
        ["check", "--source", "a", "--output", "a"],
        ["evaluate", "--oracle", "x"],
        ["train", "--train", "a"],
        ["train", "--train", "a", "--valid", "a", "--out", "o", "--epochs", "0"],
        ["train", "--train", "a", "--valid", "a", "--out", "o", "--learning-rate", "nan"],
        ["train", "--train", "a", "--valid", "a", "--out", "o", "--seed", "-1"],
        ["train-checker", "--pairs", "a", "--inference", "b", "--judged", "b", "--out", "o", "--steps", "0"],
        ["train-planner", "--pairs", "a", "--synonyms", "b", "--difficulty", "c", "--out", "o", "--epochs", "x"],
        ["train-aligner", "--gold", "a", "--encoder", "b", "--out", "o", "--seed", "x"],
        ["train-aligner", "--gold", "a", "--encoder", "b", "--out", "o", "--synonyms", "x"],
        ["tune", "--plan", "a", "--reference", "b", "--out", "o", "--trials", "0"],
        ["experiment", "e", "--out", "o", "--minutes", "-1"],
        ["experiment", "e", "--out", "o", "--batch-size", "0"],
    ):
        yield Case(f"words: {' '.join(argv)}", argv, {"a": "x\n"}, 2)


# ---- pairs, alignments, evaluation


def pairs() -> Iterator[Case]:
    row = "0\tThe cat\tN/A\ta cat\tN/A\t1\t1\t{}\t{}\n"
    item = {"source": "a b", "target": "a b", "sureAlign": "0-0", "possibleAlign": ""}
    gold: list[tuple[str, str, Content, int]] = [
        ("a file of pairs", "g.tsv", "a b\ta b\nc\tc\n", 2),
        ("three columns", "g.tsv", "1\ta\tb\n", 2),
        ("odd links", "g.tsv", row.format("x-y", ""), 2),
        ("empty", "g.tsv", "", 2),
        ("blank lines", "g.tsv", "\n\n", 2),
        ("links outside", "g.tsv", row.format("0-99", ""), 2),
        ("negative links", "g.tsv", row.format("-1--2", ""), 2),
        ("a huge link", "g.tsv", row.format("0-" + "9" * 5_000, ""), 2),
        ("no links at all", "g.tsv", row.format("", ""), 2),
        ("good", "g.tsv", row.format("1-1", "0-0"), 0),
        ("a byte order mark", "g.tsv", b"\xef\xbb\xbf" + row.format("1-1", "").encode(), 0),
        ("UTF-16", "g.tsv", row.format("1-1", "").encode("utf-16"), 2),
        ("spaces for tabs", "g.tsv", row.format("1-1", "").replace("\t", " "), 2),
        ("short row behind a good one", "g.tsv", row.format("1-1", "") + "1\ta\tb\n", 2),
        ("broken JSON", "g.json", "{", 2),
        ("numbers", "g.json", "[1]", 2),
        ("null", "g.json", "null", 2),
        ("an object", "g.json", "{}", 2),
        ("UTF-16 JSON", "g.json", "[]".encode("utf-16"), 2),
        ("deep", "g.json", "[" * 100_000, 2),
        ("no pairs", "g.json", "[]", 2),
        ("JSON of pairs alone", "g.json", json.dumps([{"source": "a", "target": "a"}]), 2),
        ("links in a list", "g.json", json.dumps([{**item, "sureAlign": [[0, 0]]}]), 2),
        ("source null", "g.json", json.dumps([{**item, "source": None}]), 2),
        ("source number", "g.json", json.dumps([{**item, "source": 1}]), 2),
        ("good JSON", "g.json", json.dumps([item]), 0),
        ("JSON lines", "g.json", json.dumps(item) + "\n" + json.dumps(item), 2),
        ("no links in JSON", "g.json", json.dumps([{**item, "sureAlign": ""}]), 2),
        ("JSON in a table", "g.tsv", json.dumps([item]), 2),
    ]
    for name, path, content, status in gold:
        yield Case(
            f"gold {name}",
            ["align", "--aligner", "exact", "--gold", path],
            {path: content},
            status,
            [path] if status else [],
        )
    align = ["align", "--aligner", "exact", "--input", "a"]
    yield from (
        Case("pairs without tab", align, {"a": "x\n"}, 2, ["a, line 1"]),
        Case("pairs in UTF-16", align, {"a": "x\ty\n".encode("utf-16")}, 2, ["a, line 1"]),
        Case("pairs with two tabs", align, {"a": "x\ty\nx\ty\tz\n"}, 2, ["a, line 2"]),
        Case("no pairs", align, {"a": ""}, 0),
        Case("long pairs", align, {"a": "a " * 9_000 + "\t" + "a " * 9_000 + "\n"}, 0),
        Case("empty sides", align, {"a": "\t\n"}, 0),
        Case("pairs with NUL", align, {"a": b"\0\t\0\n"}, 0),
        Case("pairs with a blank line", align, {"a": "x\ty\n\n"}, 2, ["a, line 2"]),
        Case("pairs of a long line", [*align, "--tokenized"], {"a": "a" * 99_999 + "\t" + "b" * 99_999 + "\n"}, 0),
    )
    extract = ["plan", "extract", "--aligner", "exact", "--source", "a", "--reference", "b"]
    yield from (
        Case("long extraction", extract, {"a": "a b c " * 500 + "\n", "b": "a c b " * 500 + "\n"}, 0),
        Case("lines differ", extract, {"a": "x\n", "b": "x\ny\n"}, 2, ["b has more lines"]),
        Case("extract nothing", extract, {"a": "", "b": ""}, 0),
        Case("extract UTF-16", extract, {"a": "x\n", "b": "x\n".encode("utf-16")}, 2, ["b, line 1"]),
        Case(
            "extract from one standard input",
            ["plan", "extract", "--aligner", "exact", "--source", "-", "--reference", "-"],
            {},
            2,
            ["standard input"],
        ),
        Case("extract blank lines", extract, {"a": "\n\n", "b": "\n\n"}, 0),
        Case(
            "an encoder elsewhere",
            ["plan", "extract", "--encoder", "../../../etc", "--source", "a", "--reference", "a"],
            {"a": "x\n"},
            2,
            ["etc"],
        ),
        Case("words of no kind", [*extract, "--words", "some"], {"a": "x\n", "b": "x\n"}, 2, ["--words"]),
    )


def evaluations() -> Iterator[Case]:
    def results(**more: Any) -> dict[str, Content]:
        return {"a": "x\n", "b": "x\n", "c.jsonl": json.dumps({"source": "x", "output": "x", **more}) + "\n"}

    edit = {"insert": "x", "status": "satisfied"}
    jsonl = _evaluate("c.jsonl")
    yield from (
        Case(
            "evaluate: lines differ",
            ["evaluate", "--source", "a", "--reference", "b", "--outputs", "a"],
            {"a": "x\n", "b": "x\ny\n"},
            2,
            ["b has 2 lines"],
        ),
        Case("evaluate: empty", _evaluate(), {"a": "", "b": "", "c": ""}, 2),
        Case("evaluate: samples -1", [*_evaluate(), "--samples", "-1"], _TEXTS, 2, ["--samples"]),
        Case("evaluate: samples many", [*_evaluate(), "--samples", "999999999"], _TEXTS, 2, ["samples is"]),
        Case("evaluate: seed x", [*_evaluate(), "--seed", "x"], _TEXTS, 2, ["--seed"]),
        Case("evaluate: broken", jsonl, {"a": "x\n", "b": "x\n", "c.jsonl": "{\n"}, 2, ["c.jsonl:1"]),
        Case("evaluate: status", jsonl, results(edits=[{**edit, "status": "great"}]), 2, ["c.jsonl:1"]),
        Case("evaluate: status list", jsonl, results(edits=[{**edit, "status": ["great"]}]), 2, ["c.jsonl:1"]),
        Case("evaluate: chosen over 2", jsonl, results(edits=[{**edit, "chosen_over": 2}]), 2, ["c.jsonl:1"]),
        Case("evaluate: chosen over text", jsonl, results(edits=[{**edit, "chosen_over": "yes"}]), 2, ["c.jsonl:1"]),
        Case(
            "evaluate: blank line",
            jsonl,
            {"a": "x\ny\n", "b": "x\ny\n", "c.jsonl": json.dumps({"source": "x", "output": "x"}) + "\n\n"},
            2,
            ["c.jsonl"],
        ),
        Case("evaluate: edits object", jsonl, results(edits={}), 2, ["c.jsonl:1"]),
        Case("evaluate: edit number", jsonl, results(edits=[1]), 2, ["c.jsonl:1"]),
        Case("evaluate: no edit", jsonl, results(edits=[{"status": "unmet"}]), 2, ["c.jsonl:1"]),
        Case("evaluate: output number", jsonl, results(output=3), 2, ["c.jsonl:1"]),
        Case("evaluate: output null", jsonl, results(output=None), 2, ["c.jsonl:1"]),
        Case("evaluate: another source", jsonl, results(source="y"), 2, ["c.jsonl, line 1"]),
        Case("evaluate: a line that failed", jsonl, results(error="no"), 2, ["c.jsonl:1"]),
        Case(
            "evaluate: surrogate",
            jsonl,
            {**results(), "c.jsonl": '{"source": "x", "output": "\\ud800"}\n'},
            2,
            ["c.jsonl:1"],
        ),
        Case("evaluate: deep", jsonl, {**results(), "c.jsonl": "[" * 50_000}, 2, ["c.jsonl:1"]),
        Case(
            "evaluate: reason number",
            jsonl,
            results(edits=[{**edit, "status": "impossible", "reason": 3}]),
            2,
            ["c.jsonl:1"],
        ),
        Case("evaluate: corpus elsewhere", ["evaluate", "--corpus", "../../etc", "--outputs", "c"], _TEXTS, 2, ["etc"]),
        Case(
            "evaluate: split elsewhere",
            ["evaluate", "--corpus", "asset", "--split", "../x", "--outputs", "c"],
            _TEXTS,
            2,
        ),
        Case("evaluate: references 99", [*_evaluate(), "--references", "99"], _TEXTS, 2, ["99"]),
        Case(
            "evaluate: plans in UTF-16",
            [*_evaluate(), "--plans", "p"],
            {**_TEXTS, "p": plan().encode("utf-16")},
            2,
            ["p:1"],
        ),
        Case("evaluate: plans of others", [*_evaluate(), "--plans", "p"], {**_TEXTS, "p": plan()}, 2, ["p, line 1"]),
        Case("evaluate: too few plans", [*_evaluate(), "--plans", "p"], {**_TEXTS, "p": ""}, 2, ["p has 0 plans"]),
        Case("evaluate: outputs twice", [*_evaluate(), "c"], _TEXTS, 2, ["c is given twice"]),
        Case("evaluate: UTF-16", _evaluate(), {**_TEXTS, "c": "x\n".encode("utf-16")}, 2, ["c, line 1"]),
        Case("evaluate: random", _evaluate(), {**_TEXTS, "c": random.Random(5).randbytes(99)}, 2, ["c"]),
        Case("evaluate: plans alone, empty", ["evaluate", "--plans", "p", "--oracle", "p"], {"p": ""}, 2, ["p"]),
        Case(
            "check: lines differ",
            ["check", "--source", "a", "--output", "b"],
            {"a": "x\n", "b": "x\ny\n"},
            2,
            ["b has 2"],
        ),
        Case(
            "check: UTF-16",
            ["check", "--source", "a", "--output", "b"],
            {"a": "x\n", "b": "x\n".encode("utf-16")},
            2,
            ["b, line 1"],
        ),
        Case(
            "check: no such checker",
            ["check", "--source", "a", "--output", "b", "--checker", "nowhere"],
            _TEXTS,
            2,
            ["nowhere"],
        ),
        Case("check: device", ["check", "--source", "a", "--output", "b", "--device", "tpu"], _TEXTS, 2, ["tpu"]),
    )


# ---- experiments, trainings, tunings

_EXPERIMENT = """\
[corpora.c]
source = "a"
reference = ["a"]
[models.m]
[plans.p]
words = "all"
[methods.beam]
method = "beam"
"""


def experiments() -> Iterator[Case]:
    changed = {
        "no TOML": "{",
        "empty": "",
        "wrong types": "corpora = 3\nmodels = 4\nplans = 5\nmethods = 6\n",
        "corpora list": "corpora = []\n",
        "deep": "a = " + "[" * 5000,
        "UTF-16": "a = 1".encode("utf-16"),
        "corpora numbers": _EXPERIMENT.replace('[corpora.c]\nsource = "a"\nreference = ["a"]', "[corpora]\nc = 3"),
        "source number": _EXPERIMENT.replace('source = "a"', "source = 3"),
        "reference text": _EXPERIMENT.replace('["a"]', '"a"'),
        "reference numbers": _EXPERIMENT.replace('["a"]', "[1]"),
        "words unknown": _EXPERIMENT.replace('"all"', '"some"'),
        "words number": _EXPERIMENT.replace('"all"', "3"),
        "method unknown": _EXPERIMENT.replace('method = "beam"', 'method = "ray"'),
        "method number": _EXPERIMENT.replace('method = "beam"', "method = 3"),
        "method a number": _EXPERIMENT.replace('[methods.beam]\nmethod = "beam"', "[methods]\nbeam = 3"),
        "plans a number": _EXPERIMENT.replace('[plans.p]\nwords = "all"', "[plans]\np = 3"),
        "plans both": _EXPERIMENT.replace('words = "all"', 'words = "all"\npredict = true'),
        "predict text": _EXPERIMENT.replace('words = "all"', 'predict = "yes"'),
        "models list": _EXPERIMENT.replace("[models.m]\n", "") + "models = 3\n",
        "models a number": _EXPERIMENT.replace("[models.m]", "[models]\nm = 3"),
        "beams text": 'beams = "many"\n' + _EXPERIMENT,
        "beams list": "beams = [1]\n" + _EXPERIMENT,
        "baseline unknown": 'baseline = "x"\n' + _EXPERIMENT,
        "baseline number": "baseline = 3\n" + _EXPERIMENT,
        "rivals text": 'rivals = "x"\n' + _EXPERIMENT,
        "rivals number": "rivals = 3\n" + _EXPERIMENT,
        "sweeps number": "sweeps = 3\n" + _EXPERIMENT,
        "sweeps numbers": "sweeps = [3]\n" + _EXPERIMENT,
        "paper number": "paper = 3\n" + _EXPERIMENT,
        "paper numbers": "paper = [3]\n" + _EXPERIMENT,
        "no such file": _EXPERIMENT.replace('"a"', '"nowhere"'),
        "rank text": _EXPERIMENT + 'rank = "yes"\n',
        "settings number": _EXPERIMENT + "settings = 3\n",
        "settings of unknown names": _EXPERIMENT + 'settings = "{x}"\n',
        "strength number": _EXPERIMENT.replace('words = "all"', "predict = true\nstrength = 7"),
        "strength list": _EXPERIMENT.replace('words = "all"', 'predict = true\nstrength = ["a", "b"]'),
        "marks number": _EXPERIMENT + "marks = 3\n",
    }
    for name, content in changed.items():
        yield Case(
            f"experiment {name}",
            ["experiment", "e.toml", "--out", "o"],
            {"e.toml": content, "a": "x\n"},
            2,
            ["nowhere" if name == "no such file" else "e.toml"],
        )


def trainings() -> Iterator[Case]:
    for name, content in (
        ("no tab", "a\n"),
        ("empty", ""),
        ("UTF-16", "a\tb\n".encode("utf-16")),
        ("NULs", b"\0\n"),
        ("empty side", "a\t\n"),
        ("three columns", "a\tb\nc\td\te\n"),
        ("bom alone", b"\xef\xbb\xbf"),
        ("blank line", "a\tb\n\na\tb\n"),
        ("no pair at all", "\n\n\n"),
    ):
        yield Case(
            f"train {name}",
            ["train", "--train", "t.tsv", "--valid", "t.tsv", "--out", "o"],
            {"t.tsv": content},
            2,
            ["t.tsv"],
        )
    tagged, good = (
        ["train-planner", "--pairs", "p", "--synonyms", "s", "--difficulty", "d", "--out", "o"],
        "a\tcased\tb c\tb\n",
    )
    for name, pairs, words, hard, says in (
        ("two columns", "a\tb\n", "", "", "p, line 1"),
        ("casing", good.replace("cased", "Cased"), "", "", "p, line 1"),
        ("empty", "", "", "", "p, line 1"),
        ("UTF-16", good.encode("utf-16"), "", "", "p, line 1"),
        ("difficulty no number", good, "a\tb\n", "x\ty\n", "d, line 1"),
        ("difficulty NaN", good, "a\tb\n", "x\tnan\n", "d, line 1"),
        ("difficulty empty", good, "a\tb\n", "\n", "d, line 1"),
        ("difficulty huge", good, "a\tb\n", "x\t1e400\n", "d, line 1"),
    ):
        yield Case(f"train-planner {name}", tagged, {"p": pairs, "s": words, "d": hard}, 2, [says])
    checker = ["train-checker", "--pairs", "p", "--inference", "i", "--judged", "j", "--out", "o"]
    for name, content in (
        ("two columns", "a\tb\n"),
        ("label", "a\tmaybe\tb\tc\n"),
        ("empty", ""),
        ("Latin-1", b"a\tneutral\tcaf\xe9\tc\n"),
    ):
        yield Case(f"train-checker {name}", checker, {"p": good, "i": content, "j": ""}, 2, ["i, line 1"])
    inferred = "dev\tneutral\ta b\tc d\n"
    rewriting: dict[str, Any] = {"by": "x", "source": "a b", "output": "a c", "altered": 0.1, "unsupported": None,
                                 "lost": [], "wrong": []}  # fmt: skip
    for name, content in (
        ("no JSON", "{\n"),
        ("a list", "[]\n"),
        ("key missing", json.dumps({**rewriting, "altered": None}) + "\n"),
        ("number as text", json.dumps({**rewriting, "altered": "much"}) + "\n"),
        ("number of 2", json.dumps({**rewriting, "altered": 2}) + "\n"),
        ("words as text", json.dumps({**rewriting, "lost": "a"}) + "\n"),
        ("UTF-16", "{}\n".encode("utf-16")),
        ("empty", ""),
    ):
        yield Case(f"train-checker judged {name}", checker, {"p": good, "i": inferred, "j": content}, 2, ["j, line 1"])
    tune = ["tune", "--plan", "p.jsonl", "--reference", "r", "--out", "o", "--model", SCRIPTED]
    given: dict[str, Content] = {"p.jsonl": plan(), "r": "x\n", "j": "garbage\nmore\n"}
    for name, argv in (
        ("no plans", ["tune", "--plan", "x", "--reference", "y", "--out", "o"]),
        ("storage", [*tune, "--storage", "nosuch://user:secret@h/x"]),
        ("journal nowhere", [*tune, "--storage", "journal:/nonexistent/x"]),
        ("no database", [*tune, "--storage", "sqlite:///j"]),
        ("method", [*tune, "--method", "x"]),
        ("trials", [*tune, "--trials", "x"]),
        ("workers", [*tune, "--workers", "0"]),
        ("sentences", [*tune, "--sentences", "0"]),
        ("short reference", ["tune", "--plan", "p.jsonl", "--reference", "j", "--out", "o", "--model", SCRIPTED]),
        ("ranges", [*tune, "--ranges", "x"]),
        ("goal", [*tune, "--goal", "x"]),
        ("settings", [*tune, "--settings", "j"]),
    ):
        yield Case(f"tune {name}", argv, given, 2)


# ---- folders of models

_T5 = {
    "model_type": "t5",
    "vocab_size": 10,
    "d_model": 8,
    "d_kv": 4,
    "d_ff": 8,
    "num_layers": 1,
    "num_heads": 2,
    "decoder_start_token_id": 0,
}


def folders() -> Iterator[Case]:
    contents: dict[str, dict[str, str | bytes]] = {
        "empty": {},
        "config alone": {"config.json": '{"model_type": "t5"}'},
        "config null": {"config.json": "null"},
        "config list": {"config.json": "[]"},
        "config without type": {"config.json": "{}"},
        "unknown type": {"config.json": '{"model_type": "zzz"}'},
        "type number": {"config.json": '{"model_type": 3}'},
        "config deep": {"config.json": "[" * 100_000},
        "config UTF-16": {"config.json": '{"model_type": "t5"}'.encode("utf-16")},
        "code": {
            "config.json": '{"model_type": "zzz", "auto_map": {"AutoConfig": "evil.A", "AutoModel": "evil.B"}}',
            "evil.py": "open('PWNED', 'w').write('x')\n",
        },
        "pickle": {
            "config.json": json.dumps(_T5),
            "pytorch_model.bin": b"\x80\x04cposix\nsystem\n(S'touch PWNED'\ntR.",
        },
        "garbage weights": {"config.json": json.dumps(_T5), "model.safetensors": b"garbage"},
        "huge header": {"config.json": json.dumps(_T5), "model.safetensors": b"\xff" * 8 + b"{}"},
        "sizes negative": {"config.json": json.dumps({**_T5, "d_model": -1}), "model.safetensors": b""},
        "predictor list": {"planner.json": "[]"},
        "predictor deep": {"planner.json": "[" * 100_000},
        "aligner null": {"aligner.json": "null"},
        "aligner empty": {"aligner.json": "{}"},
        "checker list": {"checker.json": "[]"},
        "checker wrong": {"checker.json": '{"above": 3}'},
    }
    commands: list[list[str]] = [
        ["simplify", "--model", "./m", "a b c ."],
        ["train", "--model", "./m", "--train", "t.tsv", "--valid", "t.tsv", "--out", "o"],
        ["plan", "predict", "--model", SCRIPTED, "--planner", "./m", "a b c ."],
        ["align", "--encoder", "./m", "--input", "t.tsv"],
        ["align", "--aligner", "vectors", "--encoder", "./m", "--input", "t.tsv"],
        ["check", "--checker", "./m", "--source", "t.tsv", "--output", "t2.tsv"],
    ]
    for name, files in contents.items():
        own = next((kind for kind in ("predictor", "aligner", "checker") if name.startswith(kind)), None)
        for argv in commands:
            if own is None or own in " ".join(argv) or (own == "aligner" and argv[0] == "align"):
                yield Case(
                    f"folder {name}: {' '.join(argv[:2])} {argv[2]}",
                    argv,
                    {"m": _folder(files), "t.tsv": "a b\ta b\n" * 4, "t2.tsv": "a c\ta b\n" * 4},
                    2,
                    ["m"],
                )


def all_cases() -> Iterable[Case]:
    for kind in (
        plans,
        files,
        outputs,
        user_constraints,
        sentences,
        models,
        tables,
        settings,
        flags,
        pairs,
        evaluations,
        experiments,
        trainings,
        folders,
    ):
        yield from kind()
