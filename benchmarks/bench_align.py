"""Quality and speed of the aligners on gold alignments.

    python -m benchmarks.bench_align --gold DATA/alignment --encoder ENCODER

--encoder: the encoder of the aligners without training. --trained: a trained aligner; default: the bundled one. Speed
is measured on all pairs of the three files, after a first pass.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from benchmarks.bench_search import cpu_name
from redraft.align.exact_aligner import ExactAligner
from redraft.align.gold_alignments import GoldPair, read_gold
from redraft.align.links import parse_links
from redraft.align.trained_aligner import TrainedAligner
from redraft.align.vector_aligner import VectorAligner
from redraft.evaluate.alignment_scores import score_links, score_non_identical
from redraft.fit.aligner.gold_splits import EVALUATION, MAIN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", metavar="DIR", required=True)
    parser.add_argument("--encoder", metavar="NAME", help="encoder of the vector aligners")
    parser.add_argument("--trained", metavar="DIR", help="a trained aligner (default: the bundled one)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", metavar="FILE", help="write the results as JSON")
    args = parser.parse_args()
    name = torch.cuda.get_device_name() if args.device == "cuda" else cpu_name()
    sets = {file: read_gold(Path(args.gold, file)) for file in EVALUATION}
    seen = {side for file in MAIN for pair in read_gold(Path(args.gold, file)) for side in (pair.source, pair.target)}
    unseen = [pair for pair in sets["mtref-dev.tsv"] if pair.source not in seen and pair.target not in seen]
    sets[f"mtref-dev, no sentence in train ({len(unseen)})"] = unseen
    aligners: dict[str, Any] = {"exact and lemma": ExactAligner()}
    if find_spec("eflomal"):
        aligners["eflomal, intersection"] = Eflomal(
            [pair for file in MAIN for pair in read_gold(Path(args.gold, file))]
        )
    if args.encoder:
        for method in ("argmax", "itermax", "match"):
            aligners[f"vectors, {method}"] = VectorAligner(args.encoder, method=method, device=args.device)
    aligners["trained"] = TrainedAligner.load(args.trained, device=args.device)
    print(f"{name}, torch {torch.__version__}\n")
    print(f"| aligner | {' | '.join(f'{file} P / R / F1 / F1 of non-identical' for file in sets)} | pairs/s |")
    print("|---" * (len(sets) + 2) + "|")
    found: dict[str, Any] = {"machine": name}
    for title, aligner in aligners.items():
        cells, found[title] = [], {}
        for file, gold in sets.items():
            links = list(aligner.align((pair.source, pair.target) for pair in gold))
            scores, non_identical = score_links(links, gold), score_non_identical(links, gold)
            values = [scores.precision, scores.recall, scores.f1, non_identical.f1]
            found[title][file] = [round(value, 2) for value in values]
            cells.append(" / ".join(f"{value:.1f}" for value in values))
        every = [pair for file in EVALUATION for pair in sets[file]]
        found[title]["pairs_per_second"] = speed = round(_pairs_per_second(aligner, every, args.repeats), 1)
        print(f"| {title} | {' | '.join(cells)} | {speed:,.0f} |", flush=True)
    if args.out:
        Path(args.out).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


class Eflomal:
    """A statistical aligner (Östling and Tiedemann, 2016). It also reads the training pairs, without their links."""

    def __init__(self, more: list[GoldPair]) -> None:
        self._more = [(pair.source, pair.target) for pair in more]

    def align(self, pairs: Any) -> list[Any]:
        import eflomal

        pairs = list(pairs)
        with tempfile.TemporaryDirectory() as folder:
            names = [str(Path(folder, name)) for name in ("source", "target", "forward", "backward")]
            for side in (0, 1):
                lines = [" ".join(pair[side]).lower() for pair in (*pairs, *self._more)]
                Path(names[side]).write_text("\n".join(lines) + "\n", encoding="utf-8")
            with open(names[0], encoding="utf-8") as source, open(names[1], encoding="utf-8") as target:
                eflomal.Aligner().align(source, target, links_filename_fwd=names[2], links_filename_rev=names[3])
            forward, backward = (Path(name).read_text(encoding="utf-8").split("\n") for name in names[2:])
        return [parse_links(one) & parse_links(other) for one, other in zip(forward, backward, strict=True)][
            : len(pairs)
        ]


def _pairs_per_second(aligner: Any, pairs: list[GoldPair], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in aligner.align((pair.source, pair.target) for pair in pairs):
            pass
        times.append(time.perf_counter() - start)
    return len(pairs) / statistics.median(times)


if __name__ == "__main__":
    main()
