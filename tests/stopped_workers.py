"""Two processes that would work for minutes; test_worker_processes.py starts this, and stops it in several ways."""

import os
import signal
import sys
import time
from pathlib import Path

from redraft.cli.console import Terminated
from redraft.cli.worker_processes import run_in_processes, terminable


def work(folder: str, number: int) -> None:
    (Path(folder) / f"{number}.part").write_text(str(os.getpid()))
    (Path(folder) / f"{number}.part").rename(Path(folder) / f"{number}.pid")
    time.sleep(600)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores it
    try:
        with terminable():
            run_in_processes(work, (sys.argv[1],), 2)
    except Terminated:
        sys.exit(143)
    except KeyboardInterrupt:
        sys.exit(130)
