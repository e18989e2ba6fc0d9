"""The settings of `redraft train`: names, defaults, help texts and checks."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_type_hints

from redraft.errors import ConfigError, shown
from redraft.settings_checks import check_setting

_MOST = sys.maxsize  # any finite value


def _setting(default: Any, help: str, *, least: float = 0, most: float = _MOST, outcome: bool = True) -> Any:
    """`outcome`: the trained weights depend on it."""
    return field(default=default, metadata={"help": help, "least": least, "most": most, "outcome": outcome})


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriterTraining:
    """How to train a rewriter; docs/train.md explains the details."""

    epochs: int = _setting(5, "maximum number of passes over the training pairs", least=1)
    batch: int = _setting(256, "batch size: pairs per weight update, over all processes", least=1)
    micro_tokens: int = _setting(
        4096, "micro-batch size in tokens, padding included; gradients are accumulated", least=1
    )
    micro_batch: int | None = _setting(
        None, "maximum number of pairs in a micro-batch; default: limited by tokens only", least=1
    )
    learning_rate: float = _setting(1e-4, "peak learning rate of AdamW")
    schedule: Literal["linear", "cosine", "constant"] = _setting("linear", "learning-rate schedule after the warm-up")
    warm_up: float = _setting(0.06, "learning-rate warm-up, as a share of the steps", most=1)
    weight_decay: float = _setting(0.01, "weight decay of AdamW; not applied to biases and norms")
    label_smoothing: float = _setting(0.0, "label smoothing: probability mass spread over all tokens", most=1)
    clip: float = _setting(1.0, "gradient-norm clipping threshold; 0 disables clipping")
    precision: Literal["float32", "bfloat16", "float16"] | None = _setting(
        None, "precision of the forward pass; default: bfloat16 on GPUs that support it, else float32"
    )
    evaluate_every: int | None = _setting(None, "steps between validations; default: one epoch", least=1)
    patience: int = _setting(
        2, "early stopping: validations without improvement in SARI before the training ends", least=1
    )
    beams: int = _setting(4, "beam size in validation", least=1)
    no_repeat_ngram: int = _setting(3, "size of n-grams that must not repeat in validation outputs; 0 disables")
    valid_sentences: int | None = _setting(
        None, "number of sentences of --valid to use, from the start; default: all", least=1
    )
    valid_batch: int = _setting(32, "batch size in validation, in sentences", least=1, outcome=False)
    average: int = _setting(
        1, "number of best checkpoints to average; used unless the average has a lower SARI", least=1
    )
    max_length: int = _setting(128, "maximum number of tokens of a source and of a target", least=1)
    long: Literal["raise", "skip"] = _setting("raise", "longer pairs: stop with an error, or skip and count them")
    on_error: Literal["raise", "skip"] = _setting("raise", "invalid lines: stop with an error, or skip and count them")
    prompt: str | None = _setting(
        None,
        'prompt of a causal model, containing {source}; default: "Simplify: {source}", a line break, "Simple:"',
    )
    plans: bool = _setting(
        False, "teach the model to read plans: pairs are aligned, and a random part of each plan is put into the source"
    )
    seed: int = _setting(0, "random seed for shuffling and dropout")
    save_every: int = _setting(
        200, "steps between checkpoints; every validation also writes one", least=1, outcome=False
    )
    minutes: float | None = _setting(None, "time limit in minutes; repeat the command to resume", outcome=False)

    def __post_init__(self) -> None:
        for setting in fields(self):
            limits = {name: setting.metadata[name] for name in ("least", "most")}
            check_setting(setting.name, getattr(self, setting.name), _HINTS[setting.name], **limits)
        if self.learning_rate == 0:
            raise ConfigError("learning_rate is 0, so nothing would be learned.", "Give a number above 0, like 1e-4.")
        if self.prompt is not None and "{source}" not in self.prompt:
            raise ConfigError(
                f"prompt {shown(self.prompt)} does not contain {{source}}.",
                "Write {source} where the sentence belongs.",
            )

    def outcome(self) -> dict[str, Any]:
        """The settings that the trained weights depend on."""
        return {name: value for name, value in asdict(self).items() if _METADATA[name]["outcome"]}


_HINTS = get_type_hints(RewriterTraining)
_METADATA = {setting.name: setting.metadata for setting in fields(RewriterTraining)}
