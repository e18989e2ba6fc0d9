"""Print every requirement of pyproject.toml at its lowest version but torch, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
for requirement in [*project["dependencies"], *(one for name in extras for one in extras[name])]:
    if found := re.match(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", requirement):
        name, lowest = found.groups()
        if name != "torch":
            print(f"{name}=={lowest}")
