"""Rewrites three sentences with the bundled model and default settings, without network access."""

from __future__ import annotations

import sys
from pathlib import Path

from redraft import Redrafter
from redraft.errors import RedraftError

SENTENCES = Path(__file__).resolve().with_name("three_sentences.txt")


def main() -> None:
    for decoded in Redrafter().stream(SENTENCES.read_text(encoding="utf-8").splitlines()):
        print(f"source  {decoded.source}")
        print(f"output  {decoded.text}\n")


if __name__ == "__main__":
    try:
        main()
    except RedraftError as error:
        sys.exit(str(error))
