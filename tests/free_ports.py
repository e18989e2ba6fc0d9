"""Ports and servers on this machine, for tests that start a service."""

import socket
import threading
import time
import urllib.request
from contextlib import contextmanager


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


@contextmanager
def served(app, limits):
    """Runs the app on a real server in this process, configured like the command; yields its port and the server."""
    import uvicorn

    from redraft.serve.http_server import uvicorn_config

    port = free_port()
    server = uvicorn.Server(uvicorn_config(app, "127.0.0.1", port, limits))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(f"http://127.0.0.1:{port}/health")
    try:
        yield port, server
    finally:
        server.should_exit = True
        thread.join(15)
        assert not thread.is_alive(), "the service does not stop"
