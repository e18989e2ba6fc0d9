"""Text on its way into a page."""

from __future__ import annotations

import html


def escape(text: str) -> str:
    """Text for a page; control characters, which HTML forbids, become a sign that can be seen."""
    return html.escape("".join(sign if sign.isprintable() or sign.isspace() else "\ufffd" for sign in text))
