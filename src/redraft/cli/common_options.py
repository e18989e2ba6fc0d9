"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

from redraft.cli.typer_command import argument, option

_MODEL = "The model"
_PLANNER = "The plan that is predicted"

Input = Annotated[str | None, option("one sentence on each line, UTF-8; - is standard input", "FILE")]
Data = Annotated[str | None, option("the folder with corpora; REDRAFT_DATA if not given", "DIR", panel="The corpus")]
Texts = Annotated[list[str], argument("one sentence for each argument", "TEXT")]

Model = Annotated[
    str | None,
    option(
        "a folder, a name on the Hugging Face hub, or scripted:TABLE.json; if not given, the model that comes with the "
        "package",
        "NAME",
        panel=_MODEL,
    ),
]
Device = Annotated[
    str | None, option("cpu, cuda, cuda:1, …; a GPU where there is one if not given", "NAME", panel=_MODEL)
]
Dtype = Annotated[
    Literal["float32", "bfloat16", "float16", "float64"] | None,
    option(
        "type of the weights: float32, bfloat16, float16 or float64; as they are stored if not given",
        "TYPE",
        panel=_MODEL,
    ),
]
Graphs = Annotated[bool, option("replay steps from CUDA graphs: for long files, several times as fast", panel=_MODEL)]
TrustRemoteCode = Annotated[
    bool, option("run Python code that lies beside the model's weights; it can do whatever you can", panel=_MODEL)
]
PickledWeights = Annotated[
    bool, option("read weights that are stored with pickle, which can run code; else safetensors alone", panel=_MODEL)
]
Batch8 = Annotated[str, option("sentences searched together (default 8)", "N", panel=_MODEL)]
Batch16 = Annotated[str, option("sentences searched together (default 16)", "N", panel=_MODEL)]

Strength = Annotated[
    str | None,
    option(
        "how much is changed: light, medium (default), strong, a number from 0 to 1, or from which probability on "
        "words are left out, replaced and, if you like, asked to stay: 0.25,0.13 or 0.12,0.1,0.65",
        "HOW",
        panel=_PLANNER,
    ),
]
Style = Annotated[
    str | None,
    option(
        "edit as people did in this corpus: turk, onestopenglish, automets, …; any: in all of them",
        "NAME",
        panel=_PLANNER,
    ),
]
Keep = Annotated[
    str | None,
    option(
        "words that must stay: a word, a phrase or /a regular expression/ on each line; # begins a remark",
        "FILE",
        panel=_PLANNER,
    ),
]
Glossary = Annotated[
    str | None,
    option("what to write for what: source ⇥ target on each line; # begins a remark", "FILE", panel=_PLANNER),
]
PlannerFolder = Annotated[
    str | None,
    option("a folder of redraft train-planner; if not given, what comes with the package", "DIR", panel=_PLANNER),
]

Aligner = Annotated[str, option("trained (default), vectors, or exact, which needs no weights", "NAME")]
Encoder = Annotated[str | None, option("a folder of redraft train-aligner; for vectors, any encoder", "NAME")]
LeaveOut = Annotated[list[str], option("pairs whose tag begins so are not used", "TAG ...")]
Epochs = Annotated[str | None, option("times that every pair is read", "N")]
Seed = Annotated[str | None, option("of order, turns and the network's first weights", "N")]
