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


def made_from(path: Path, facts: Facts) -> bool:
    """Whether what was noted beside a file, before it was begun, is the same."""
    try:
        known = json.loads(_facts_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(known == json.loads(json.dumps(facts)))


def note(path: Path, facts: Facts) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(_facts_path(path)) as file:
        file.write((json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
