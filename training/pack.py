"""Step 7: stores the trained model in 8 bits, with the settings and logs of all steps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from redraft.decode.eight_bit_model import save_eight_bit_model
from redraft.models import bundled
from training.settings import read_recipe


def pack(work: Path, out: Path | None) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    trained = work / "plan_reading" / "model"
    out = out or bundled("rewriter")
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(trained)
    save_eight_bit_model(model, AutoTokenizer.from_pretrained(trained), out)
    shutil.copyfile(work / "plan_reading" / "held_out.json", out / "held_out.json")
    (out / "settings.json").write_text(_settings(work), encoding="utf-8")
    (out / "training.log").write_text(_log(work), encoding="utf-8")
    size = sum(path.stat().st_size for path in out.iterdir())
    print(f"{out}: {size / 1e6:.1f} MB for {model.num_parameters() / 1e6:.1f} M parameters", flush=True)


def _settings(work: Path) -> str:
    """The settings of every step."""
    notes = {step: work / step / "settings.json" for step in read_recipe()}
    found = {step: json.loads(path.read_text(encoding="utf-8")) for step, path in notes.items() if path.exists()}
    return json.dumps(found, indent=1) + "\n"


def _log(work: Path) -> str:
    """The logs of all steps by name, in the order of the recipe."""
    logs = ((step, work / step / "log.jsonl") for step in read_recipe())
    return "".join(f"{step}\n{log.read_text(encoding='utf-8')}" for step, log in logs if log.exists())
