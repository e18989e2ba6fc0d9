"""Killed commands neither lose, duplicate nor truncate rows; kills.py has the commands and a longer version."""

import os
import sys

import pytest

from kills import CASES, Attack

TIMES = 2


@pytest.fixture(autouse=True)
def found_by_the_server(monkeypatch):
    """Makes preloading.py importable for the fork server."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, sys.path)))


@pytest.mark.parametrize("name", [name for name in CASES if name != "plan-predict"])  # it loads the bundled planner
def test_a_killed_command_resumes_without_lost_duplicate_or_truncated_rows(name, tmp_path):
    assert Attack(CASES[name], tmp_path).kill(TIMES) == TIMES
