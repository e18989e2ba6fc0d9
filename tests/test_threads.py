"""The number of CPU threads."""

import os
import subprocess
import sys

import pytest

from redraft.threads import available_cores


@pytest.mark.parametrize(
    "quota, cores",
    [("max 100000", None), ("50000 100000", 1), ("100000 100000", 1), ("1 100000", 1), ("nonsense", None), ("", None)],
)
def test_cores_of_a_container(tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(quota)
    assert available_cores(tmp_path) == (cores or len(os.sched_getaffinity(0)))


def test_without_a_container(tmp_path):
    assert available_cores(tmp_path) == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("environment, given, expected", [({}, 1, "1"), ({"OMP_NUM_THREADS": "1"}, None, "1")])
def test_threads_are_set_before_torch_loads(environment, given, expected):
    code = (
        f"import redraft; from redraft.threads import set_threads; set_threads({given}); "
        "import torch; print(torch.get_num_threads())"
    )
    clean = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    found = subprocess.run([sys.executable, "-c", code], env={**clean, **environment}, capture_output=True, text=True)
    assert found.stdout.strip() == expected, found.stderr


def test_idle_threads_do_not_spin_for_long():
    code = "import redraft, os, sys; print(os.environ['GOMP_SPINCOUNT'], 'torch' in sys.modules)"
    clean = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    for environment, expected in (({}, "20000 False"), ({"GOMP_SPINCOUNT": "7"}, "7 False")):
        found = subprocess.run(
            [sys.executable, "-c", code], env={**clean, **environment}, capture_output=True, text=True
        )
        assert found.stdout.strip() == expected
