"""Training pairs: reading, errors, batches, and the loss."""

import lzma
import math
from pathlib import Path

import pytest
import torch

from redraft.decode.encoder_decoder import IGNORED, shifted
from redraft.errors import ConfigError, CorpusError
from redraft.fit.rewriter.pair_files import read_pairs
from redraft.fit.rewriter.token_batches import (
    Order,
    _ended,
    by_length,
    make_batch,
    make_examples,
    micro_batches,
    summed_loss,
    usable_rows,
)
from redraft.fit.rewriter.trainable_models import Start
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.fit.training_loop import learning_rate_factor
from toy_pairs import PROMPT, small_model, toy_pairs, word_tokenizer


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def start(family):
    return Start(family, small_model(family).config, word_tokenizer())


# Files


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"a b\tc\nd\te f\n", id="plain"),
        pytest.param(b"a b\tc\nd\te f", id="no-last-line-end"),
        pytest.param(b"\xef\xbb\xbfa b\tc\r\nd\te f\r\n", id="windows"),
        pytest.param(b" a b \t c\nd\te f \n", id="spaces-around"),
    ],
)
def test_a_table_of_pairs(content):
    Path("pairs.tsv").write_bytes(content)
    pairs = read_pairs("pairs.tsv")
    assert (pairs.sources, pairs.targets, pairs.lines) == (["a b", "d"], ["c", "e f"], [1, 2])


def test_a_compressed_table_has_the_same_pairs():
    Path("pairs.tsv").write_text("a\tb\n")
    Path("pairs.tsv.xz").write_bytes(lzma.compress(b"a\tb\n"))
    plain, packed = read_pairs("pairs.tsv"), read_pairs("pairs.tsv.xz")
    assert (packed.sources, packed.references) == (plain.sources, plain.references)
    assert packed.digests == plain.digests != read_files({"x.tsv": "a\tc\n"}).digests


def read_files(files, **settings):
    for name, text in files.items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_pairs(list(files), **settings)


def test_parallel_files():
    pairs = read_files({"train.orig": "a\nb\n", "train.simp": "c\td\ne\n"})
    assert (pairs.sources, pairs.targets) == (["a", "b"], ["c\td", "e"])  # a tab is not a separator here


@pytest.mark.parametrize(
    "files", [{"v.tsv": "a\tb\tc\nd\te\tf\n"}, {"v.orig": "a\nd\n", "v.0": "b\ne\n", "v.1": "c\nf\n"}], ids=len
)
def test_several_references(files):
    pairs = read_files(files, more_references=True)
    assert (pairs.sources, pairs.references) == (["a", "d"], [["b", "e"], ["c", "f"]])


COLUMNS = (
    "Write source, tab, target on each line. Only --valid may have further references, the same number everywhere."
)
FILES = "Give one with source, tab, target on each line, or one of sources and one of targets."
EMPTY = "Fill it, delete the line, or skip such lines with --on-error skip."
BAD = [
    pytest.param({"p.tsv": "a\tb\nc\n"}, {}, "p.tsv, line 2: has 1 column, 2 are needed.", COLUMNS, id="one-column"),
    pytest.param({"p.tsv": "a\tb\tc\n"}, {}, "p.tsv, line 1: has 3 columns, 2 are needed.", COLUMNS, id="too-many"),
    pytest.param(
        {"p.tsv": "a\tb\n\nc\td\n"}, {}, "p.tsv, line 2: has 1 column, 2 are needed.", COLUMNS, id="empty-line"
    ),
    pytest.param(
        {"p.tsv": "a\tb\tc\nd\te\n"},
        {"more_references": True},
        "p.tsv, line 2: has 2 columns, 3 are needed.",
        COLUMNS,
        id="fewer-references",
    ),
    pytest.param({"p.tsv": "a\tb\nc\t \n"}, {}, "p.tsv, line 2: the target is empty.", EMPTY, id="empty-target"),
    pytest.param({"p.tsv": "a\tb\n\td\n"}, {}, "p.tsv, line 2: the source is empty.", EMPTY, id="empty-source"),
    pytest.param(
        {"p.tsv": "a\tb\t\n"},
        {"more_references": True},
        "p.tsv, line 1: the reference 2 is empty.",
        EMPTY,
        id="empty-reference",
    ),
    pytest.param(
        {"s": "a\nb\n", "t": "c\n\n"}, {}, "t, line 2: the target is empty.", EMPTY, id="empty-target-of-two-files"
    ),
    pytest.param(
        {"s": "a\nb\n", "t": "c\n"},
        {},
        "t has 1 lines, s has 2.",
        "Parallel files need the same number of lines.",
        id="unequal-files",
    ),
    pytest.param(
        {"p.tsv": ""},
        {},
        "p.tsv is empty.",
        "Give a file with one pair, or one sentence, on each line.",
        id="empty-file",
    ),
    pytest.param(
        {"p.tsv": b"a\tb\nc\t\xe9\n"},
        {},
        "p.tsv, line 2: not UTF-8: 0xe9 is byte 3 of the line.",
        "Save the file as UTF-8. If it is Latin-1: iconv -f LATIN1 -t UTF-8 OLD > NEW",
        id="latin-1",
    ),
    pytest.param({"a": "x\n", "b": "x\n", "c": "x\n"}, {}, "3 files were given for training.", FILES, id="three-files"),
    pytest.param(
        {"p.tsv": "a\n"},
        {"on_error": "skip"},
        "p.tsv: every line is invalid.",
        f"p.tsv, line 1: has 1 column, 2 are needed.\n  {COLUMNS}",
        id="nothing-left",
    ),
]


@pytest.mark.parametrize("files, settings, problem, hint", BAD)
def test_bad_files_are_named_with_line_and_cause(files, settings, problem, hint):
    with pytest.raises(CorpusError) as caught:
        read_files(files, **settings)
    assert (caught.value.problem, caught.value.hint) == (problem, hint)


def test_files_that_cannot_be_opened():
    Path("bad.tsv.xz").write_bytes(b"not packed")
    for path, problem in (
        ("no.tsv", "no.tsv does not exist."),
        (".", ". is a folder."),
        ("bad.tsv.xz", "bad.tsv.xz cannot"),
    ):
        with pytest.raises(CorpusError) as caught:
            read_pairs(path)
        assert caught.value.problem.startswith(problem)


def test_invalid_lines_can_be_skipped():
    pairs = read_files({"p.tsv": b"a\tb\nc\nd\t\n\xff\tx\ne\tf\n"}, on_error="skip")
    assert (pairs.sources, pairs.targets, pairs.lines) == (["a", "e"], ["b", "f"], [1, 5])
    assert [error.problem.split(":")[0] for error in pairs.skipped] == [f"p.tsv, line {n}" for n in (2, 3, 4)]


# Lengths


def check_lengths(family, rows, **settings):
    pairs = read_files({"p.tsv": "".join(f"{source}\t{target}\n" for source, target in rows)})
    prompt = PROMPT if family == "gpt2" else None
    examples = make_examples(start(family), pairs.sources, pairs.targets, prompt)
    return usable_rows(examples, pairs, RewriterTraining(**settings), 32)


LONG = [
    pytest.param(
        "bart",
        ("old " * 5000, "old"),
        {},
        "p.tsv, line 2: the source has 5,000 tokens, and --max-length is 128.",
        id="5000-words",
    ),
    pytest.param(
        "bart",
        ("old", "old " * 20),
        {"max_length": 20},
        "p.tsv, line 2: the target has 21 tokens, and --max-length is 20.",
        id="the-end-counts",
    ),
    pytest.param(
        "bart",
        ("old " * 33, "old"),
        {},
        "p.tsv, line 2: the source has 33 tokens, and the model has 32 positions.",
        id="positions",
    ),
    pytest.param(
        "gpt2",
        ("old " * 16, "old " * 15),
        {},
        "p.tsv, line 2: source and target have 33 tokens, and the model has 32 positions.",
        id="positions-of-both",
    ),
]


@pytest.mark.parametrize("family, long, settings, problem", LONG)
def test_long_pairs_are_refused_or_skipped_but_never_cut(family, long, settings, problem):
    rows = [("old man", "man"), long, ("town", "river")]
    with pytest.raises(CorpusError) as caught:
        check_lengths(family, rows, **settings)
    assert caught.value.problem == problem
    way = "use a model with more positions" if "positions" in problem else "raise --max-length"
    assert caught.value.hint == f"Shorten it, {way}, or skip such pairs with --long skip."
    assert check_lengths(family, rows, long="skip", **settings) == [0, 2]


def test_the_file_of_the_long_side_is_named():
    pairs = read_files({"s": "old\nold man\n", "t": "man\nold old old\n"})
    examples = make_examples(start("bart"), pairs.sources, pairs.targets, None)
    with pytest.raises(CorpusError, match=r"^t, line 2: the target has 4 tokens, and --max-length is 3"):
        usable_rows(examples, pairs, RewriterTraining(max_length=3), None)


@pytest.mark.parametrize("tokens, ended", [
    ([10, 11], [10, 11, 2]),
    ([10, 11, 2], [10, 11, 2]),
    ([10, 11, 2, 99], [10, 11, 2, 99]),  # a language token after the end token
    ([2, 10], [2, 10, 2]),
    ([], [2]),
])  # fmt: skip
def test_a_target_has_one_end(tokens, ended):
    assert _ended(tokens, 2, frozenset({0, 1, 2, 99})) == ended


def test_a_source_without_tokens():
    pairs = read_files({"p.tsv": "old\tman\nold\tman\n"})
    examples = make_examples(start("bart"), pairs.sources, pairs.targets, None)
    examples.sources[1] = examples.sources[1][:0]
    with pytest.raises(CorpusError, match=r"^p\.tsv, line 2: the source has no tokens in the model's vocabulary"):
        usable_rows(examples, pairs, RewriterTraining(), None)
    assert usable_rows(examples, pairs, RewriterTraining(on_error="skip"), None) == [0]


def test_pairs_of_the_maximum_length_are_kept():
    assert check_lengths("bart", [("old " * 20, "old " * 19)], max_length=20) == [0]
    assert check_lengths("gpt2", [("old " * 16, "old " * 14)]) == [0]  # 16 + ">" + 14 + end


def test_several_long_pairs_are_counted():
    with pytest.raises(CorpusError, match=r"line 1: .* is 3; 2 pairs are too long\."):
        check_lengths("bart", [("old " * 4, "old")] * 2, max_length=3)
    with pytest.raises(CorpusError, match="no usable pair is left"):
        check_lengths("bart", [("old " * 4, "old")] * 2, max_length=3, long="skip")


# Order and batches


def test_the_order_is_shuffled_anew_and_the_same_in_every_run():
    order = Order(10, 4, epochs=2, seed=3)
    epochs = [[order[step] for step in range(first, first + 3)] for first in (0, 3)]
    assert order.steps == 6
    for epoch in epochs:
        assert [len(rows) for rows in epoch] == [4, 4, 2]
        assert sorted(row for rows in epoch for row in rows) == list(range(10))
    assert epochs[0] != epochs[1]
    again = Order(10, 4, epochs=2, seed=3)
    assert [again[step] for step in (5, 0, 3)] == [order[step] for step in (5, 0, 3)]  # independent of earlier updates
    assert Order(10, 4, epochs=2, seed=4)[0] != order[0]


@pytest.mark.parametrize("family", ["bart", "gpt2"])
@pytest.mark.parametrize("tokens, most", [(20, None), (1000, 3), (20, 2), (1, None)])
def test_micro_batches_hold_every_row_once_within_their_bounds(family, tokens, most):
    pairs = toy_pairs(30)
    examples = make_examples(start(family), *zip(*pairs, strict=True), PROMPT if family == "gpt2" else None)
    parts = list(micro_batches(examples, range(30), tokens, most))
    assert [row for part in parts for row in part] == by_length(examples, range(30))
    for part in parts:
        size = make_batch(examples, part)
        padded = size.input_ids.numel() + (0 if family == "gpt2" else size.labels.numel())
        assert examples.padded(part) == padded
        assert len(part) == 1 or padded <= tokens
        assert len(part) <= (most or 30)
    assert len(parts) < 30 or tokens == 1


def test_a_causal_batch_learns_target_and_end_only():
    examples = make_examples(start("gpt2"), ["old man", "town"], ["man", "river town"], PROMPT)
    batch = make_batch(examples, [0, 1])
    names = word_tokenizer().convert_ids_to_tokens
    assert [names(row) for row in batch.input_ids.tolist()] == [
        ["old", "man", ">", "man", "</s>"], ["town", ">", "river", "town", "</s>"],
    ]  # fmt: skip
    ignored = [[label == IGNORED for label in row] for row in batch.labels.tolist()]
    assert ignored == [[True, True, True, False, False], [True, True, False, False, False]]
    shorter = make_batch(make_examples(start("gpt2"), ["old", "old man"], ["man", "man"], PROMPT), [0, 1])
    assert shorter.attention_mask.tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert shorter.labels[0, -1] == IGNORED


def test_a_seq2seq_batch_has_the_target_after_the_start_token():
    examples = make_examples(start("bart"), ["old man", "town"], ["man", "river town"], None)
    batch = make_batch(examples, [0, 1])
    man, river, town = word_tokenizer().convert_tokens_to_ids(["man", "river", "town"])
    assert batch.labels.tolist() == [[man, 2, IGNORED], [river, town, 2]]
    assert batch.attention_mask.tolist() == [[1, 1], [1, 0]]
    for family, first in (("bart", 2), ("t5", 0)):
        assert shifted(small_model(family), batch.labels).tolist() == [[first, man, 2], [first, river, town]]
    model = small_model("bart")
    by_model = shifted(model, batch.labels)
    bare = type("Bare", (), {"config": model.config})()  # a model without its own shift function
    assert torch.equal(shifted(bare, batch.labels), by_model)


@pytest.mark.parametrize("prompt, first", [("{source} >", " river"), ("{source} >\n", "river")])
def test_targets_are_tokenized_as_continuations_of_the_prompt(prompt, first, monkeypatch):
    seen = []
    tokenizer = word_tokenizer()
    monkeypatch.setattr(type(tokenizer), "__call__", lambda self, **given: seen.append(given) or {"input_ids": [[5]]})
    make_examples(Start("x", small_model("gpt2").config, tokenizer), ["old"], ["river"], prompt)
    assert [given.get("text_target") for given in seen if "text_target" in given] == [[first]]


# The loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2"])
@torch.no_grad()
def test_the_loss_is_the_sum_over_target_tokens(family, smoothing):
    """By hand: one pair at a time, no padding, the probability of each token after those before it."""
    model = small_model(family).eval()
    causal = family == "gpt2"
    examples = make_examples(start(family), ["old man", "town"], ["man", "river town"], PROMPT if causal else None)
    expected = 0.0
    for source, target in zip(examples.sources, examples.targets, strict=True):
        for at, token in enumerate(target):
            before = torch.tensor([target[:at].tolist()], dtype=torch.long)
            read = torch.tensor([source.tolist()])
            if causal:
                logits = model(input_ids=torch.cat([read, before], 1)).logits
            else:
                first = torch.tensor([[model.config.decoder_start_token_id]])
                logits = model(input_ids=read, decoder_input_ids=torch.cat([first, before], 1)).logits
            log_prob = torch.log_softmax(logits[0, -1], -1)
            expected -= (1 - smoothing) * float(log_prob[token]) + smoothing * float(log_prob.mean())
    loss = summed_loss(model, model, make_batch(examples, [0, 1]), smoothing)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_schedules():
    assert [learning_rate_factor("linear", step, 10, 2) for step in (0, 1, 5, 10)] == pytest.approx(
        [0.5, 0.9, 0.5, 0.0]
    )
    assert [learning_rate_factor("cosine", step, 10, 1) for step in (0, 5, 10)] == pytest.approx([1.0, 0.5, 0.0])
    assert learning_rate_factor("cosine", 2, 10, 1) == pytest.approx((1 + math.cos(math.pi / 5)) / 2)
    assert [learning_rate_factor("constant", step, 10, 4) for step in (0, 3, 9)] == [0.25, 1, 1]


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"epochs": 0}, "epochs is 0."),
        ({"batch": 1.5}, "batch is 1.5."),
        ({"batch": True}, "batch is true."),
        ({"learning_rate": 0}, "learning_rate is 0, so nothing would be learned."),
        ({"learning_rate": float("nan")}, "learning_rate is NaN."),
        ({"warm_up": 1.1}, "warm_up is 1.1."),
        ({"schedule": "steep"}, 'schedule "steep" is not known.'),
        ({"precision": "int8"}, 'precision "int8" is not known.'),
        ({"prompt": "Simplify:"}, 'prompt "Simplify:" does not contain {source}.'),
    ],
    ids=str,
)
def test_settings_are_checked(setting, message):
    with pytest.raises(ConfigError) as caught:
        RewriterTraining(**setting)
    assert caught.value.problem == message
    assert caught.value.hint
