"""How far files of models are trusted: no code of their own, and no pickles, unless somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redraft.errors import RedraftError, shown
from redraft.memory import is_out_of_memory


@dataclass(frozen=True)
class _Trust:
    remote_code: bool = False
    pickled_weights: bool = False


_trust = _Trust()


@contextmanager
def trusting(*, remote_code: bool = False, pickled_weights: bool = False) -> Iterator[None]:
    """Within, models may run Python code that lies beside them, or have weights stored with pickle.

    Both can do to this machine whatever you can do. The setting is the whole process's.
    """
    global _trust
    before, _trust = _trust, _Trust(remote_code, pickled_weights)
    try:
        yield
    finally:
        _trust = before


def for_code() -> dict[str, Any]:
    """What every `from_pretrained` gets: without it, transformers asks on standard input, where our text comes in."""
    return {"trust_remote_code": _trust.remote_code}


def for_weights() -> dict[str, Any]:
    """What a `from_pretrained` gets that reads weights."""
    return {**for_code(), "use_safetensors": None if _trust.pickled_weights else True}


def check_weights(folder: str | Path) -> None:
    """For libraries that load weights themselves: refuse a folder with pickles alone."""
    if not _trust.pickled_weights and _has_pickles_alone(Path(folder)):
        raise ValueError("its weights are stored with pickle")


def _has_pickles_alone(folder: Path) -> bool:
    return folder.is_dir() and any(folder.glob("*.bin")) and not any(folder.glob("*.safetensors"))


@contextmanager
def unasked() -> Iterator[None]:
    """For libraries that call `from_pretrained` themselves: transformers refuses where it would have asked."""
    from transformers import dynamic_module_utils

    before = dynamic_module_utils.TIME_OUT_REMOTE_CODE
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = 0
    try:
        yield
    finally:
        dynamic_module_utils.TIME_OUT_REMOTE_CODE = before


@contextmanager
def loading(what: str, name: str | Path, kind: type[RedraftError], hint: str, *, problem: str = "") -> Iterator[None]:
    """Any error in reading files of a model becomes one that names them."""
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
    """The next step for what is refused on purpose."""
    if "trust_remote_code" in str(error):
        return "It brings Python code of its own. If you trust who wrote it: --trust-remote-code."
    folder = Path(name)
    if _has_pickles_alone(folder):
        return "Its weights are stored with pickle, which can run code. If you trust who made it: --pickled-weights."
    if "safetensors" in str(error) and not folder.exists():
        return "If its weights are stored with pickle and you trust who made it: --pickled-weights."
    return ""
