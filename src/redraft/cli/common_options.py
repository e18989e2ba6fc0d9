"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

from redraft.cli.typer_command import argument, option

Input = Annotated[str | None, option("UTF-8 text, one sentence per line; - reads standard input", "FILE")]
Data = Annotated[str | None, option("corpus folder (default: the environment variable REDRAFT_DATA)", "DIR")]
Texts = Annotated[list[str], argument("sentences, one per argument", "TEXT")]

Model = Annotated[
    str | None,
    option("folder, Hugging Face model name or scripted:TABLE.json (default: the bundled model)", "NAME"),
]
Device = Annotated[str | None, option("cpu, cuda, cuda:1, … (default: a GPU if there is one)", "NAME")]
Dtype = Annotated[
    Literal["float32", "bfloat16", "float16", "float64", "int8"] | None,
    option(
        "data type of the weights: float32, bfloat16, float16, float64, or int8 for 8-bit arithmetic on a CPU "
        "(default: as stored; simplify: int8 for the bundled model where the CPU supports it)",
        "TYPE",
    ),
]
Threads = Annotated[str | None, option("CPU threads (default: one per core, at most 4; serve leaves one core)", "N")]
Graphs = Annotated[
    bool,
    option("replay all decoding steps from CUDA graphs (default: on a GPU, those of batches of 32 or more sentences)"),
]
TrustRemoteCode = Annotated[bool, option("run Python code stored with the model; the code has all your permissions")]
PickledWeights = Annotated[
    bool, option("load pickled weights, which can run code when loaded (default: safetensors only)")
]
Batch8 = Annotated[str, option("sentences decoded together (default 8)", "N")]
Batch16 = Annotated[str, option("sentences decoded together (default 16)", "N")]

Strength = Annotated[
    str | None,
    option(
        "how much to change: light, medium (default), strong, a number from 0 to 1, or probability thresholds for "
        "deleting, substituting and (optional) keeping words: 0.25,0.13 or 0.12,0.1,0.65",
        "LEVEL",
    ),
]
Style = Annotated[
    str | None,
    option("predict the edits typical of one corpus: turk, onestopenglish, automets, …; any: of all corpora", "NAME"),
]
Keep = Annotated[
    str | None,
    option("words to keep: one word, phrase or /regular expression/ per line; # starts a comment", "FILE"),
]
Glossary = Annotated[
    str | None,
    option("replacements to make: source ⇥ target, or source = target, on each line; # starts a comment", "FILE"),
]
PlannerFolder = Annotated[
    str | None, option("planner folder written by redraft train-planner (default: the bundled planner)", "DIR")
]

Aligner = Annotated[str, option("word aligner: trained (default), vectors, or exact, which needs no weights", "NAME")]
Encoder = Annotated[
    str | None,
    option("aligner folder written by redraft train-aligner; with --aligner vectors, any encoder", "NAME"),
]
LeaveOut = Annotated[list[str], option("exclude pairs whose tag starts with TAG", "TAG ...")]
Epochs2 = Annotated[str | None, option("passes over the training pairs (default 2)", "N")]
Epochs10 = Annotated[str | None, option("passes over the training pairs (default 10)", "N")]
Seed = Annotated[str | None, option("random seed for shuffling, sampling and initial weights (default 0)", "N")]
