"""Commands that are killed lose no row, write none twice and tear none; kills.py has the commands, and kills more."""

import os
import sys

import pytest

from kills import CASES, Attack

TIMES = 2


@pytest.fixture(autouse=True)
def found_by_the_server(monkeypatch):
    """The server that processes are forked from imports what is preloaded."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, sys.path)))


@pytest.mark.parametrize("name", [name for name in CASES if name != "plan-predict"])  # which loads the shipped planner
def test_a_killed_command_is_started_again_and_nothing_is_lost_doubled_or_torn(name, tmp_path):
    assert Attack(CASES[name], tmp_path).kill(TIMES) == TIMES
