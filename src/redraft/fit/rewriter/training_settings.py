"""Every setting of `redraft train`: names, defaults, help and checks, in one place."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_type_hints

from redraft.errors import ConfigError, shown
from redraft.settings_checks import check_setting

_MOST = sys.maxsize  # finite


def _setting(default: Any, help: str, *, least: float = 0, most: float = _MOST, outcome: bool = True) -> Any:
    """`outcome`: the weights that come out depend on it."""
    return field(default=default, metadata={"help": help, "least": least, "most": most, "outcome": outcome})


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriterTraining:
    """How to train a rewriter. docs/train.md explains what needs more than a line."""

    epochs: int = _setting(5, "times that every pair is read, at most", least=1)
    batch: int = _setting(256, "pairs for each update of the weights, over all processes together", least=1)
    micro_tokens: int = _setting(4096, "padded tokens that pass through the model at once, gradients added up", least=1)
    micro_batch: int | None = _setting(None, "and pairs at once; as many as the tokens allow if not given", least=1)
    rate: float = _setting(1e-4, "of AdamW at its highest")
    schedule: Literal["linear", "cosine", "constant"] = _setting("linear", "how the rate falls")
    warm_up: float = _setting(0.06, "share of the steps over which the rate rises", most=1)
    weight_decay: float = _setting(0.01, "of AdamW, for matrices")
    label_smoothing: float = _setting(0.0, "probability that is spread over all tokens", most=1)
    clip: float = _setting(1.0, "longest gradient; 0: any")
    precision: Literal["float32", "bfloat16", "float16"] | None = _setting(
        None, "numbers in the forward pass; bfloat16 on GPUs that have it and float32 elsewhere if not given"
    )
    evaluate_every: int | None = _setting(None, "steps from one validation to the next; an epoch if not given", least=1)
    patience: int = _setting(2, "validations without a better SARI after which the training ends", least=1)
    beams: int = _setting(4, "rows for each sentence in validation", least=1)
    no_repeat_ngram: int = _setting(3, "no n-gram of this size twice in validation; 0: allowed")
    valid_sentences: int | None = _setting(None, "only the first so many sentences of --valid", least=1)
    valid_batch: int = _setting(32, "sentences decoded together in validation", least=1, outcome=False)
    average: int = _setting(1, "validated weights to average, the best ones; kept unless SARI is lower", least=1)
    max_length: int = _setting(128, "tokens of a source and of a target, at most", least=1)
    long: Literal["raise", "skip"] = _setting("raise", "at a longer pair: stop, or leave it out and count it")
    on_error: Literal["raise", "skip"] = _setting("raise", "at a bad line: stop, or leave it out and count it")
    prompt: str | None = _setting(
        None,
        'what a causal model reads, with {source} in it; "Simplify: {source}", a new line and "Simple:" if not given',
    )
    plans: bool = _setting(
        False, "teach the model to read plans: pairs are linked, and a random part of each plan is put into its source"
    )
    seed: int = _setting(0, "of the order of the pairs and of dropout")
    save_every: int = _setting(
        200, "steps from one checkpoint to the next; each validation is one", least=1, outcome=False
    )
    minutes: float | None = _setting(None, "stop after so many, to be continued by the same command", outcome=False)

    def __post_init__(self) -> None:
        for setting in fields(self):
            limits = {name: setting.metadata[name] for name in ("least", "most")}
            check_setting(setting.name, getattr(self, setting.name), _HINTS[setting.name], **limits)
        if self.rate == 0:
            raise ConfigError("rate is 0, so nothing would be learned.", "Give a number above 0, for example 1e-4.")
        if self.prompt is not None and "{source}" not in self.prompt:
            raise ConfigError(f"prompt {shown(self.prompt)} has no place for the sentence.", "Write {source} in it.")

    def outcome(self) -> dict[str, Any]:
        """The settings that the trained weights depend on."""
        return {name: value for name, value in asdict(self).items() if _METADATA[name]["outcome"]}


_HINTS = get_type_hints(RewriterTraining)
_METADATA = {setting.name: setting.metadata for setting in fields(RewriterTraining)}
