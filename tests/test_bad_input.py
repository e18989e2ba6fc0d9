"""Bad input of every kind: refused with a message, or answered; never a traceback, a hang, or a file overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bad_inputs import Case, all_cases
from time_limit import within

SECONDS = 60  # of CPU time for one command; only guards against hangs


@pytest.fixture(scope="module", autouse=True)
def planner() -> Iterator[None]:
    """Loads the bundled planner only once."""
    from redraft.plan.planner import Planner

    load = Planner.load
    shipped = cache(load)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Planner,
            "load",
            lambda folder=None, *, device=None: load(folder, device=device) if folder else shipped(None),
        )
        yield


def laid_out(case: Case) -> dict[str, bytes | None]:
    """Make the files of a case in this folder; returns their contents."""
    for name, content in case.files.items():
        path = Path(name)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return contents()


def contents() -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(Path().rglob("*"))}


CASES = list(all_cases())


def test_no_two_have_one_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert len(CASES) > 900


@pytest.mark.parametrize("case", [pytest.param(case, id=ascii(case.name)[1:-1]) for case in CASES])
def test_bad_input(case: Case, command: Any) -> None:
    before = laid_out(case)
    with within(SECONDS):
        status, out, err = command(*case.argv, stdin=case.stdin)
    assert status == case.status, err
    for words in case.says:
        assert words in err
    if status == 2:
        assert "\n  " in err, "no next step"
    assert "\x1b" not in out + err
    after = contents()
    assert {name: after.get(name) for name in before} == before
    assert "PWNED" not in after
