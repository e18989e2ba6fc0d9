"""Runs requests about documents in processes of their own, a few at a time."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

from redraft.documents.blocks import DocumentError
from redraft.serve.batcher import DeadlineExceeded, QueueFull
from redraft.serve.limits import Limits

_PROGRAM = "redraft.documents.document_program"
_PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")  # not the API key


class DocumentWorker:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.document_processes)
        self._requests = 0

    async def run(self, task: Literal["open", "export"], body: bytes) -> tuple[Mapping[str, Any], bytes]:
        """The JSON of the response, and the file if there is one. `body`: the request, as JSON."""
        if self._requests >= self._limits.document_queue + self._limits.document_processes:
            raise QueueFull("too many documents are waiting.", "Try again in a few seconds.")
        self._requests += 1
        try:
            async with asyncio.timeout(self._limits.document_deadline), self._free:
                output = await _output(task, body)
        except TimeoutError:
            raise DeadlineExceeded(
                f"the document was not finished within {self._limits.document_deadline:g} seconds.",
                "Send a part of it.",
            ) from None
        finally:
            self._requests -= 1
        head, _, file = output.partition(b"\n")
        if not head:
            raise DocumentError("the document needs too much time or memory.", "Send a part of it.")
        response = json.loads(head)
        if "error" in response:
            raise DocumentError(**response["error"])
        return response, file


async def _output(task: str, body: bytes) -> bytes:
    """Of the program. It is ended when the request is cancelled."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", _PROGRAM, task, env=environment,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        output, _ = await process.communicate(body)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output
