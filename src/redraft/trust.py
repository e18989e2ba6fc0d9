"""Trust in model files: remote code and pickled weights are refused unless the user allows them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redraft.errors import RedraftError, shown
from redraft.memory import is_out_of_memory


@dataclass(frozen=True)
class Trust:
    """What the user allows model files to contain."""

    remote_code: bool = False
    pickled_weights: bool = False


_trust = Trust()


@contextmanager
def trusting(*, remote_code: bool = False, pickled_weights: bool = False) -> Iterator[None]:
    """Inside this context, models may run their own Python code, or have weights stored with pickle.

    Both can run any code with your rights. The setting applies to the whole process.
    """
    global _trust
    before, _trust = _trust, Trust(remote_code, pickled_weights)
    try:
        yield
    finally:
        _trust = before


def current_trust() -> Trust:
    return _trust


def remote_code_kwargs() -> dict[str, Any]:
    """Arguments of every `from_pretrained`: without them, transformers asks on standard input, which holds our text."""
    return {"trust_remote_code": _trust.remote_code}


def weights_kwargs() -> dict[str, Any]:
    """Arguments of a `from_pretrained` that reads weights."""
    return {**remote_code_kwargs(), "use_safetensors": None if _trust.pickled_weights else True}


def refuse_pickled_weights(folder: str | Path) -> None:
    """For libraries that load weights themselves: refuse a folder that has only pickled weights."""
    if not _trust.pickled_weights and _has_only_pickled_weights(Path(folder)):
        raise ValueError("its weights are stored with pickle")


def _has_only_pickled_weights(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors"))


@contextmanager
def refuse_remote_code_prompt() -> Iterator[None]:
    """For libraries that call `from_pretrained` themselves: transformers refuses instead of asking the user."""
    from transformers import dynamic_module_utils

    before = dynamic_module_utils.TIME_OUT_REMOTE_CODE
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
    try:
        yield
    finally:
        dynamic_module_utils.TIME_OUT_REMOTE_CODE = before


@contextmanager
def loading(what: str, name: str | Path, kind: type[RedraftError], hint: str, *, problem: str = "") -> Iterator[None]:
    """Turn any error while model files are read into one that names the files."""
    try:
        yield
    except RedraftError:
        raise
    except Exception as error:  # damaged files raise nearly every kind
        if is_out_of_memory(error):
            raise
        problem = problem or f"{what} {shown(str(name), 300)} cannot be loaded"
        raise kind(f"{problem}: {_reason(error)}", _hint(name, error) or hint) from error


def _reason(error: Exception) -> str:
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return first if isinstance(error, OSError | ValueError) and first else f"{type(error).__name__} {first}".strip()


def _hint(name: str | Path, error: Exception) -> str:
    """The next step for files that are refused on purpose."""
    if "trust_remote_code" in str(error):
        return "It contains its own Python code. If you trust its author, pass --trust-remote-code."
    folder = Path(name)
    if _has_only_pickled_weights(folder):
        return (
            "Its weights are stored with pickle, which can run code. If you trust its author, pass --pickled-weights."
        )
    if "safetensors" in str(error) and not folder.exists():
        return "If its weights are stored with pickle and you trust its author, pass --pickled-weights."
    return ""
