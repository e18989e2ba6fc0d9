"""Fixtures of all tests: the device, the command, the page in a browser; transformers is silent and offline."""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # models are tiny, and the suite runs in two processes


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """Tests with this fixture run on the CPU, and again on a GPU if there is one."""
    import torch

    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return str(request.param)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run `redraft` in an empty folder; returns its status, standard output and standard error."""
    from redraft import cli

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REDRAFT_DATA", raising=False)

    def run(*argv: object, stdin: bytes = b"") -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        try:
            status: Any = cli.main([str(word) for word in argv])
        except SystemExit as exit:
            status = exit.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.fixture(scope="session")
def simplifier() -> Any:
    """The bundled models, as the page's service uses them."""
    from redraft import Simplifier

    return Simplifier(device="cpu")


@pytest.fixture(scope="session")
def page_address(simplifier: Any) -> Iterator[str]:
    """A service with the bundled models."""
    import uvicorn

    from free_ports import free_port
    from redraft.serve.app import create_app

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(simplifier), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


# Not for the session: its event loop would be in the way of other tests.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None and not os.environ.get("CI"):
        pytest.skip("no Chromium")
    assert path is not None, "CI needs Chromium: apt-get install chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, page_address: str) -> Iterator[Any]:
    """The page in a new profile. `said`: what it wrote to the console; `asked`: the addresses it requested."""
    page = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.set_default_timeout(60_000)  # milliseconds; two cores may be busy
    page.said, page.asked = [], []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(page_address)
    page.wait_for_selector("body[data-ready]")
    yield page
    page.context.close()
