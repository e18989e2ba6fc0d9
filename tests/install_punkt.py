"""Unpacks NLTK's Punkt data from the wheel given as argument into the NLTK data folder of this environment."""

import sys
import zipfile
from pathlib import Path

_INSIDE = "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english/"

if __name__ == "__main__":
    folder = Path(sys.prefix, "nltk_data", "tokenizers", "punkt_tab", "english")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        for name in wheel.namelist():
            if name.startswith(_INSIDE) and not name.endswith("/"):
                (folder / Path(name).name).write_bytes(wheel.read(name))
