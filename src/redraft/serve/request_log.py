"""Where the request log goes."""

from __future__ import annotations

import logging


def log_to_standard_error() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("redraft.serve")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
