"""Services on this machine, for tests that start one."""

import socket
import time
import urllib.request


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(address, seconds=60):
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            assert time.monotonic() < until, f"nothing answers at {address}"
            time.sleep(0.2)
