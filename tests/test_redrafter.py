"""Redrafter: inputs, results, traces, models and error messages."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.constrain.vocabulary import WordVocabulary
from redraft.decode.scripted_model import ScriptedModel
from redraft.decode.step_model import StepModel
from redraft.errors import ConfigError, ModelError
from small_models import tiny_model_for
from tokenizers_in_memory import TOKENIZERS

# The paper's worked example: artisans → craftsmen, remain deleted, old inserted.
TABLE: dict[str, Any] = {
    "vocab": ["The", "artisans", "craftsmen", "remain", "are", "old", "young", "."],
    "log_probs_by_prefix": {"": {"The": -0.1}},
    "log_probs_by_last_token": {
        "The": {"artisans": -0.4, "craftsmen": -1.2},
        "artisans": {"remain": -0.4, "are": -1.2},
        "craftsmen": {"remain": -0.5, "are": -1.0},
        "remain": {"young": -0.5, "old": -1.0},
        "are": {"young": -0.5, "old": -1.0},
        "young": {".": -0.1},
        "old": {".": -0.1},
        ".": {"</s>": -0.1},
    },
    "floor_log_prob": -9.0,
}
PLAN = EditPlan(
    "The artisans remain old .", (Edit.substitute("artisans", "craftsmen"), Edit.delete("remain"), Edit.insert("old"))
)


@pytest.fixture
def redrafter() -> Redrafter:
    return Redrafter(ScriptedModel(**TABLE), config=DecodeConfig(beams=4))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return next(iter(TOKENIZERS.values()))()


@pytest.fixture(scope="module")
def seq2seq(tokenizer: Any) -> Any:
    return tiny_model_for("bart", tokenizer)


# Results


def test_a_plan_becomes_a_sentence_with_a_verdict_for_each_edit(redrafter: Redrafter) -> None:
    found = redrafter(PLAN)
    assert found.text == "The craftsmen are old ."
    assert [verdict.status for verdict in found.verdicts] == ["satisfied"] * 3
    assert found.edit_score == 2.0
    assert found.log_prob == pytest.approx(-0.1 - 1.2 - 1.0 - 1.0 - 0.1 - 0.1)
    assert not found.truncated


def test_results_are_json(redrafter: Redrafter) -> None:
    found = json.loads(json.dumps(redrafter(PLAN, candidates=2).to_json()))
    assert list(found) == [
        "source", "output", "log_prob", "edit_score", "truncated", "edits", "missing", "candidates",
    ]  # fmt: skip
    assert found["edits"][1] == {"delete": "remain", "status": "satisfied", "chosen_over": True}
    assert found["candidates"][0]["output"] == found["output"]


def test_plain_text_is_a_plan_without_edits(redrafter: Redrafter) -> None:
    found = redrafter("The artisans remain old .")
    assert found.text == "The artisans remain young ."
    assert found.verdicts == ()


def test_candidates_come_best_first(redrafter: Redrafter) -> None:
    candidates = redrafter(PLAN, candidates=4).candidates
    assert len(candidates) == 4
    ranks = [(c.edit_score, c.log_prob / len(c.tokens)) for c in candidates]
    assert ranks == sorted(ranks, reverse=True)
    assert redrafter(PLAN).candidates == candidates[:1]


def test_more_candidates_than_beams_are_refused(redrafter: Redrafter) -> None:
    with pytest.raises(ConfigError, match="candidates=5 but beams=4"):
        redrafter(PLAN, candidates=5)


def test_a_text_cut_at_its_maximum_is_truncated(redrafter: Redrafter) -> None:
    found = redrafter(PLAN, max_tokens=3)
    assert found.truncated
    assert found.to_json()["truncated"] is True
    assert len(found.candidates[0].tokens) == 3


def test_impossible_edits_have_a_reason(redrafter: Redrafter) -> None:
    plan = EditPlan("s", (Edit.insert("unheard"), Edit.insert("are old . are old ."), Edit.insert("old")))
    found = redrafter(plan, max_tokens=5)
    assert [verdict.status for verdict in found.verdicts][:2] == ["impossible", "impossible"]
    assert [verdict.reason for verdict in found.verdicts] == [
        "cannot be encoded",
        "longer than the maximum output length (5 tokens with the end token)",
        None,
    ]


def test_a_sentence_that_cannot_be_written_comes_back_with_the_reason() -> None:
    model = ScriptedModel(["a"], {"": {"a": -0.1}}, {"a": {"a": -0.1}}, floor_log_prob=-float("inf"))
    plan = EditPlan("s", (Edit.delete("a"),))
    found = Redrafter(model, config=DecodeConfig(method="negative", beams=2, max_tokens=4))(plan)
    assert (found.text, found.unchanged) == ("s", "all continuations were banned")
    assert [verdict.status for verdict in found.verdicts] == ["satisfied"]


# chosen_over


@pytest.mark.parametrize(
    "edits, settings, expected",
    [
        pytest.param((Edit.delete("remain"),), {}, [True], id="deletion-avoided-while-on-offer"),
        pytest.param((Edit.delete("craftsmen"),), {"width": 1}, [False], id="deletion-never-on-offer"),
        pytest.param((Edit.substitute("artisans", "craftsmen"),), {}, [True], id="target-chosen-over-source"),
        pytest.param(
            (Edit.substitute("remain", "craftsmen"), Edit.delete("remain"), Edit.insert("craftsmen")),
            {"width": 2},
            [False, True, None],
            id="source-not-on-offer-where-the-target-was-written",
        ),
        pytest.param((Edit.insert("craftsmen"),), {}, [None], id="insertion-has-no-alternative"),
        pytest.param((Edit.insert("unheard"),), {}, [None], id="not-carried-out"),
        pytest.param((Edit.delete("remain"),), {"method": "negative"}, [None], id="other-methods-do-not-know"),
    ],
)
def test_chosen_over(
    redrafter: Redrafter, edits: tuple[Edit, ...], settings: dict[str, Any], expected: list[bool | None]
) -> None:
    found = redrafter(EditPlan("s", edits), **settings)
    assert [verdict.chosen_over for verdict in found.verdicts] == expected


# The trace

OUTCOMES = {"finished", "unselected", "beyond alpha", "below delta", "end not allowed"}


@pytest.mark.parametrize("method", ["edit", "beam", "negative", "neurologic"])
def test_a_trace_is_plain_data(redrafter: Redrafter, method: str) -> None:
    found = redrafter(PLAN, trace=True, method=method)
    trace = json.loads(json.dumps(found.to_json()))["trace"]
    assert [step["step"] for step in trace] == list(range(1, len(trace) + 1))
    assert trace[0]["rows"] == [
        {"row": 0, "tokens": [], "text": "", "log_prob": 0.0, "siblings": trace[0]["rows"][0]["siblings"]}
    ]
    for step in trace:
        rows = {row["row"]: row for row in step["rows"]}
        for node in step["nodes"]:
            row = rows[node["row"]]
            assert node["log_prob"] == pytest.approx(row["log_prob"] + node["token_log_prob"])
            assert node["token"] in row["siblings"]
            assert node["outcome"] in OUTCOMES or node["outcome"].startswith("row ")
    assert trace[-1]["pool"][0]["text"] == found.text


def test_rows_of_a_trace_are_the_nodes_chosen_the_step_before(redrafter: Redrafter) -> None:
    trace = redrafter(PLAN, trace=True).trace
    for before, after in itertools.pairwise(trace):
        chosen = {node["outcome"]: node for node in before["nodes"] if node["outcome"].startswith("row ")}
        for row in after["rows"]:
            node = chosen[f"row {row['row']}"]
            assert (row["tokens"][-1], row["log_prob"]) == (node["token"], node["log_prob"])


def test_a_trace_names_the_rule_that_dropped_a_node(redrafter: Redrafter) -> None:
    """A node that writes a deleted phrase falls below δ; an end is not allowed while edits are unsatisfied."""
    outcomes = {
        node["outcome"]
        for step in redrafter(PLAN, trace=True, delta=0.5, alpha=6, end="met").trace
        for node in step["nodes"]
    }
    assert {"below delta", "beyond alpha", "end not allowed"} <= outcomes


def test_a_trace_does_not_change_the_answer_and_is_empty_unless_asked_for(redrafter: Redrafter) -> None:
    plain, traced = redrafter(PLAN, candidates=4), redrafter(PLAN, candidates=4, trace=True)
    assert plain.candidates == traced.candidates
    assert plain.trace == ()
    assert "trace" not in plain.to_json()


def test_every_sentence_of_a_batch_has_its_own_trace(redrafter: Redrafter) -> None:
    together = redrafter.rewrite([PLAN, "s", PLAN], trace=True)
    alone = [redrafter(plan, trace=True) for plan in (PLAN, "s", PLAN)]
    assert [len(one.trace) for one in together] == [len(one.trace) for one in alone]
    assert together[0].trace[0]["nodes"][0] == alone[0].trace[0]["nodes"][0]


# Many sentences


def test_sentences_are_streamed_in_order(redrafter: Redrafter) -> None:
    taken = []

    def plans() -> Any:
        for number in range(100):
            taken.append(number)
            yield PLAN if number % 2 else "s"

    stream = redrafter.stream(plans(), batch_size=4)
    first = [next(stream) for _ in range(3)]
    assert len(taken) == 4
    assert [one.source for one in first] == ["s", PLAN.source, "s"]


def test_no_sentences(redrafter: Redrafter) -> None:
    assert redrafter.rewrite([]) == []


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_size_of_0_is_refused(redrafter: Redrafter, batch_size: int) -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        redrafter.rewrite([PLAN], batch_size=batch_size)


# Models


class CountingModel:
    """A user-defined model with the protocol methods only: counts up from 0 and ends at 3."""

    end_tokens = (4,)

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        self.rows = torch.full((len(sources), beams), -1)
        return self._scores()

    def step(self, tokens: Tensor) -> Tensor:
        self.rows = tokens
        return self._scores()

    def reorder(self, parent: Tensor) -> None:
        self.rows = self.rows.gather(1, parent)

    def _scores(self) -> Tensor:
        scores = torch.full((*self.rows.shape, 5), -7.0)
        return scores.scatter(2, (self.rows + 1).clamp(max=4)[..., None], -0.1)


def test_anything_that_yields_scores_can_be_searched() -> None:
    model = CountingModel()
    assert isinstance(model, StepModel)
    vocabulary = WordVocabulary(["zero", "one", "two", "three", "</s>"], ["</s>"])
    redrafter = Redrafter(model, vocabulary, config=DecodeConfig(beams=3))
    assert redrafter("s").text == "zero one two three"
    assert redrafter(EditPlan("s", (Edit.delete("one"),))).verdicts[0].status == "satisfied"


def test_a_scripted_model_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE), encoding="utf-8")
    assert Redrafter(f"scripted:{path}", config=DecodeConfig(beams=4))(PLAN).text == "The craftsmen are old ."


@pytest.mark.parametrize("family", ["bart", "gpt2"])
@pytest.mark.parametrize("kind_of_path", [str, Path])
def test_a_model_by_its_local_path(tmp_path: Path, tokenizer: Any, family: str, kind_of_path: Any) -> None:
    model = tiny_model_for(family, tokenizer)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    config = DecodeConfig(beams=3, max_tokens=8)
    plan = EditPlan("the old man", (Edit.insert("old"),))
    expected = Redrafter(model, tokenizer, config=config, device="cpu")(plan)
    found = Redrafter(kind_of_path(tmp_path), config=config, device="cpu")(plan)
    assert found.text == expected.text
    assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64", torch.bfloat16])
@pytest.mark.parametrize("family", ["bart", "t5", "gpt2", "llama"])
def test_dtypes(tokenizer: Any, family: str, dtype: str | torch.dtype, device: str) -> None:
    redrafter = Redrafter(
        tiny_model_for(family, tokenizer),
        tokenizer,
        config=DecodeConfig(beams=3, max_tokens=8),
        dtype=dtype,
        device=device,
    )
    wanted = getattr(torch, dtype) if isinstance(dtype, str) else dtype
    assert next(redrafter.model.parameters()).dtype == wanted
    plans = [EditPlan("the old man", (Edit.insert("old"), Edit.delete("man"))), EditPlan("they")]
    found = redrafter.rewrite(plans)
    assert all(one.log_prob < 0 and one.candidates[0].tokens for one in found)


def test_a_prompt_wraps_the_source_of_a_decoder_only_model(tokenizer: Any) -> None:
    model = tiny_model_for("gpt2", tokenizer)
    config = DecodeConfig(beams=3, max_tokens=8)
    wrapped = Redrafter(model, tokenizer, config=config, prompt="Old: {source} New:")("man {x}")
    by_hand = Redrafter(model, tokenizer, config=config)("Old: man {x} New:")
    assert wrapped.text == by_hand.text
    assert wrapped.source == "man {x}"


# Error messages


def test_an_unknown_model_name_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r'the model "no/such-model" cannot be loaded: .*\n  Give a folder'):
        Redrafter("no/such-model")


def test_a_folder_without_a_model_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be loaded(.|\n)*Give a folder with config\.json"):
        Redrafter(tmp_path)


def test_a_missing_tokenizer_is_explained(seq2seq: Any) -> None:
    with pytest.raises(ModelError, match=r"has no tokenizer\.\n  Pass tokenizer="):
        Redrafter(seq2seq)


def test_something_that_is_no_model_is_explained(tokenizer: Any) -> None:
    with pytest.raises(ModelError, match="Linear cannot be searched"):
        Redrafter(torch.nn.Linear(2, 2), tokenizer)


def test_something_that_is_no_tokenizer_is_explained(seq2seq: Any) -> None:
    with pytest.raises(ModelError, match="dict is not a tokenizer"):
        Redrafter(seq2seq, {})


def test_an_unknown_dtype_is_explained(seq2seq: Any, tokenizer: Any) -> None:
    with pytest.raises(ModelError, match='dtype "float8" is not known'):
        Redrafter(seq2seq, tokenizer, dtype="float8")


@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_a_source_that_is_too_long_is_explained(tokenizer: Any, family: str) -> None:
    redrafter = Redrafter(tiny_model_for(family, tokenizer), tokenizer, config=DecodeConfig(beams=2))
    with pytest.raises(ModelError, match=r'the sentence "the old man .*" has \d+ tokens, and the model reads 96'):
        redrafter.rewrite(["they", "the old man " * 60])


@pytest.mark.parametrize("sources", [[""], ["they", ""]], ids=["alone", "beside-another"])
@pytest.mark.parametrize("family", ["bart", "gpt2"])
def test_a_source_without_tokens_is_explained(tokenizer: Any, family: str, sources: list[str]) -> None:
    """Most tokenizers add a token or two of their own; this one does not."""
    redrafter = Redrafter(tiny_model_for(family, tokenizer), tokenizer, config=DecodeConfig(beams=2, max_tokens=5))
    with pytest.raises(ModelError, match="an empty sentence cannot be rewritten"):
        redrafter.rewrite(sources)


def test_an_empty_source_is_allowed_with_a_prompt_or_special_tokens(tokenizer: Any, redrafter: Redrafter) -> None:
    config = DecodeConfig(beams=2, max_tokens=5)
    prompted = Redrafter(tiny_model_for("gpt2", tokenizer), tokenizer, config=config, prompt="Old: {source} New:")
    assert prompted("").candidates[0].tokens
    assert redrafter("").text


def test_a_model_without_an_end_token_is_explained(tokenizer: Any) -> None:
    model = tiny_model_for("gpt2", tokenizer)
    model.generation_config.eos_token_id = None
    with pytest.raises(ModelError, match="no end token"):
        Redrafter(model, tokenizer, config=DecodeConfig(beams=2, max_tokens=5))("they")


@pytest.mark.parametrize(
    "table, message",
    [
        pytest.param("nowhere.json", "cannot be read", id="no-file"),
        pytest.param("{", "is not JSON", id="not-json"),
        pytest.param("{}", "has no vocab", id="no-vocab"),
        pytest.param('{"vocab": ["a"], "floor": 1}', "unknown key 'floor'", id="unknown-key"),
        pytest.param('{"vocab": ["a"], "log_probs_by_prefix": {"": {"b": -1}}}', "not in vocab", id="unknown-word"),
        pytest.param('{"vocab": ["a"], "log_probs_by_last_token": {"b": {}}}', "not in vocab", id="unknown-prefix"),
    ],
)
def test_a_bad_table_is_explained(tmp_path: Path, table: str, message: str) -> None:
    path = tmp_path / (table if table.endswith(".json") else "table.json")
    if path.name != "nowhere.json":
        path.write_text(table, encoding="utf-8")
    with pytest.raises(ModelError, match=message) as raised:
        Redrafter(f"scripted:{path}")
    assert str(path) in str(raised.value)
