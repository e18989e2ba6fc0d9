"""The files of the page, found by their exact names."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from fastapi import Response
from starlette.exceptions import HTTPException

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}


def page_folder() -> Path:
    return Path(str(files("redraft.serve"))) / "page"


def page_file(name: str) -> Response:
    """404 for whatever is not one of these files."""
    path = {path.name: path for path in page_folder().iterdir() if path.is_file()}.get(name)
    if path is None or path.suffix not in _TYPES:
        raise HTTPException(404, "Not Found")
    return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers={"Cache-Control": "no-cache"})
