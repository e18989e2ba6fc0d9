"""Worker processes end with the work, with the command, and if the command is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from redraft.cli.worker_processes import run_in_processes


def until(what, seconds=300):
    """Wait until a condition holds; a busy machine may be slow."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def is_running(pid):
    """Whether a process is running; zombies count as dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "number, to_all, status",
    [
        pytest.param(signal.SIGTERM, False, 143, id="terminated"),
        pytest.param(signal.SIGINT, False, 130, id="interrupted"),
        pytest.param(signal.SIGINT, True, 130, id="interrupted-by-a-terminal"),
        pytest.param(signal.SIGKILL, False, -signal.SIGKILL, id="killed"),
    ],
)
def test_workers_end_with_the_command(tmp_path, number, to_all, status):
    script = Path(__file__).with_name("stopped_workers.py")
    command = subprocess.Popen([sys.executable, str(script), str(tmp_path)], start_new_session=True,
                               stderr=subprocess.PIPE)  # fmt: skip
    try:
        until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        pids = [int(path.read_text()) for path in tmp_path.glob("*.pid")]
        assert all(map(is_running, pids))
        (os.killpg if to_all else os.kill)(command.pid, number)
        _, said = command.communicate(timeout=300)
        assert command.returncode == status
        until(lambda: not any(map(is_running, pids)))
        assert b"Traceback" not in said
    finally:
        command.kill()
        command.wait()


def work(folder, number):
    (Path(folder) / str(number)).write_text("done")
    if number == 1:
        sys.exit(2)


def test_exit_statuses_are_returned(tmp_path):
    assert run_in_processes(work, (str(tmp_path),), 2) == [0, 2]
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1"}
