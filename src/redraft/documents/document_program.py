"""`python -m redraft.documents.document_program open|export`: one request of the service, in a process of its own.

A hostile file can keep a parser busy or fill its memory; the limits of this process then end it, and nothing else. The
request is JSON on standard input. The response is one line of JSON on standard output, then the bytes of an exported
file.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Mapping
from typing import Any

from redraft.documents.blocks import (
    Block,
    BlockChange,
    DocumentError,
    Formatting,
    JudgedEdit,
    ListPlace,
    SentenceChange,
    TablePlace,
    block_to_json,
)  # fmt: skip
from redraft.documents.document_files import new_document, open_document, save
from redraft.errors import PlanError, RedraftError
from redraft.plan.edits import EditPlan

MAX_MEMORY = 2_000_000_000  # bytes of address space
MAX_CPU_SECONDS = 30
MAX_OUTPUT = 50_000_000  # bytes
MAX_EDITS = 500  # per sentence, as in other requests
_JUDGEMENT = ("status", "reason", "chosen_over")  # fields of an edit that belong to its verdict


def main() -> None:
    _limit_this_process()
    try:
        response, file = _answer(sys.argv[1], json.loads(sys.stdin.buffer.read()))
    except RedraftError as error:
        place = f"{error.field}: " if isinstance(error, PlanError) and error.field else ""
        response, file = {"error": {"problem": place + error.problem, "hint": error.hint}}, b""
    except (MemoryError, RecursionError):
        problem = "the document needs too much memory, or is nested too deeply."
        response, file = {"error": {"problem": problem, "hint": "Send a part of it."}}, b""
    sys.stdout.buffer.write(json.dumps(response).encode() + b"\n" + file)


def _limit_this_process() -> None:
    try:
        import resource
    except ImportError:  # Windows: the service's time limit remains
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(task: str, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    if task == "open":
        document = open_document(_decoded(request["content"]), request["name"])
        blocks = [block_to_json(block) for block in document.blocks]
        return {"format": document.format, "blocks": blocks, "notes": list(document.notes)}, b""
    blocks_and_changes = [_block_and_change(number, one) for number, one in enumerate(request["blocks"])]
    if request.get("content") is None:
        document = new_document([block for block, _ in blocks_and_changes])
    else:
        document = open_document(_decoded(request["content"]), request.get("name") or "")
    file = save(
        document, [change for _, change in blocks_and_changes], request["format"],
        tracked=request.get("tracked", True), title=request.get("title"),
    )  # fmt: skip
    if len(file) > MAX_OUTPUT:
        raise DocumentError(f"the exported file has {len(file):,} bytes, and the limit is {MAX_OUTPUT:,}.",
                            "Export a part of the document.")  # fmt: skip
    return {}, file


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise DocumentError("content is not base64.", "Encode the bytes of the file in base64.") from None


def _block_and_change(number: int, obj: Mapping[str, Any]) -> tuple[Block, BlockChange]:
    """The request has been validated against its schema."""
    place = f"blocks[{number}]"
    text = obj["text"]
    formatting = tuple(
        Formatting(one["start"], one["end"], one["style"], one.get("target")) for one in obj.get("formatting", ())
    )
    for one in formatting:
        if not one.start <= one.end <= len(text):
            raise DocumentError(f"{place}: formatting from {one.start} to {one.end} is not within the text.",
                                "Count characters (Unicode code points).")  # fmt: skip
    table, item = obj.get("table"), obj.get("list")
    block = Block(
        obj["kind"], text, obj.get("level", 0), formatting, ListPlace(**item) if item else None,
        TablePlace(**table) if table else None,
    )  # fmt: skip
    sentences = tuple(
        _sentence(f"{place}.sentences[{index}]", one) for index, one in enumerate(obj.get("sentences", ()))
    )
    return block, BlockChange(sentences, obj.get("tail", ""))


def _sentence(place: str, obj: Mapping[str, Any]) -> SentenceChange:
    edits = obj.get("edits", ())
    if len(edits) > MAX_EDITS:
        raise DocumentError(f"{place}: {len(edits):,} edits, and the limit is {MAX_EDITS}.", "Send fewer edits.")
    bare = [{key: value for key, value in edit.items() if key not in _JUDGEMENT} for edit in edits]
    try:
        plan = EditPlan.from_json({"source": obj["source"], "edits": bare})
    except PlanError as error:
        raise error.inside(place) from None
    judged = tuple(
        JudgedEdit(edit, _words(given.get("status")), _words(given.get("reason")))
        for edit, given in zip(plan.edits, edits, strict=True)
    )
    return SentenceChange(
        obj.get("space", ""), obj["source"], obj["text"], judged, obj.get("reviewed", False), obj.get("by", "redraft"),
        tuple(obj.get("warnings", ())),
    )  # fmt: skip


def _words(value: object) -> str | None:
    return value[:200] if isinstance(value, str) else None


if __name__ == "__main__":
    main()
