"""Out of memory is an error message, before a search starts or during it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from redraft.cli.main import main
from redraft.decode import search
from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.errors import ConfigError
from redraft.memory import free_memory, is_out_of_memory

SCRIPTED = "scripted:examples/by_hand.json"
OF_TORCH = "[enforce fail at alloc_cpu.cpp] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 GB."


@pytest.mark.parametrize(
    "error, is_one",
    [
        (MemoryError(), True),
        (RuntimeError(OF_TORCH), True),
        (torch.OutOfMemoryError("CUDA out of memory."), True),
        (RuntimeError("std::bad_alloc"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("DefaultCPUAllocator"), False),
    ],
)
def test_memory_errors_are_recognised(error: Exception, is_one: bool) -> None:
    assert is_out_of_memory(error) is is_one


def test_the_messages_of_torch_are_recognised() -> None:
    with pytest.raises(RuntimeError) as error:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(error.value)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError(OF_TORCH)])
def test_running_out_of_memory_is_a_message(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def search(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Redrafter, "_search", search)
    assert main(["simplify", "--model", SCRIPTED, "The artisans remain old ."]) == 2
    err = capsys.readouterr().err
    assert "out of memory: " in err
    assert "--batch-size" in err


def test_other_errors_are_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Redrafter, "_search", search)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["simplify", "--model", SCRIPTED, "The artisans remain old ."])


def test_a_search_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    redrafter = Redrafter(SCRIPTED, config=DecodeConfig(beams=50, max_tokens=1_000))
    monkeypatch.setattr(search, "free_memory", lambda device: 1_000_000)
    with pytest.raises(ConfigError, match=r"50 beams of up to 1,000 tokens for 1 sentences .*\n  Lower beams"):
        redrafter("The artisans remain old .")
    monkeypatch.setattr(search, "free_memory", lambda device: None)  # the system does not report it
    assert redrafter("The artisans remain old .").text


def test_free_memory_is_some(monkeypatch: pytest.MonkeyPatch) -> None:
    free: Any = free_memory(torch.device("cpu"))
    assert free is None or 1_000_000 < free < 1 << 50
