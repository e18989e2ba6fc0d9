"""Files that are kept from one call to the next as long as they were made from the same things."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redraft.files import replacing

Facts = Mapping[str, Any]


def _facts_path(path: Path) -> Path:
    return path.with_name(path.name + ".facts")


def made_from(path: Path, facts: Facts, *names: str) -> bool:
    """Whether what was noted beside a file, before it was begun, is the same: all of it, or what is named."""
    try:
        known = json.loads(_facts_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    now = json.loads(json.dumps(facts))
    if names and isinstance(known, dict):
        return all(known.get(name) == now[name] for name in names)
    return bool(known == now)


def note(path: Path, facts: Facts) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(_facts_path(path)) as file:
        file.write((json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
