"""Speed of rewriting, compared with `generate` of transformers with the same model; outputs are checked first.

python -m benchmarks.bench_simplify --sources asset.test.orig --device cpu --out benchmarks/simplify_cpu.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

from benchmarks.bench_search import machine
from redraft import DecodeConfig, Redrafter
from redraft.decode.transformers_steps import position_limit

PLAIN, OURS, GRAPHS = "transformers", "redraft", "redraft, model in the graph"
Tokens = tuple[int, ...]
Rewrite = Callable[[Sequence[str]], list[Tokens]]


class Systems:
    """The same model, beam size and length limit: transformers, redraft, and redraft with CUDA graphs."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.device: str = args.device
        self.ours = Redrafter(args.model, config=_config(args), device=args.device, dtype=args.dtype)
        self.model, self.tokenizer = self.ours.model, self.ours.tokenizer
        self.settings = {"num_beams": args.beams, "max_new_tokens": args.max_tokens, "do_sample": False}
        self.rewrites: dict[str, Rewrite] = {PLAIN: self._plain, OURS: lambda sources: _redraft(self.ours, sources)}
        if args.graphs:
            graphs = Redrafter(self.model, self.tokenizer, config=_config(args), graphs=True)
            self.rewrites[GRAPHS] = lambda sources: _redraft(graphs, sources)

    def _plain(self, sources: Sequence[str]) -> list[Tokens]:
        inputs = self.tokenizer(list(sources), padding=True, return_tensors="pt").to(self.device)
        found = self.model.generate(
            input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], **self.settings
        )
        self.tokenizer.batch_decode(found, skip_special_tokens=True)
        return [self._up_to_end(row) for row in found[:, 1:].tolist()]

    def _up_to_end(self, row: list[int]) -> Tokens:
        end = self.tokenizer.eos_token_id
        return tuple(row[: row.index(end) + 1] if end in row else row)

    def readable(self, sources: Sequence[str]) -> list[str]:
        """The sources that fit into the model's input."""
        limit = position_limit(self.model)
        lengths = (len(tokens) for tokens in self.tokenizer(list(sources), verbose=False)["input_ids"])
        return [source for source, length in zip(sources, lengths, strict=True) if limit is None or length <= limit]

    def check(self, sources: Sequence[str], batch: int) -> str:
        """Compare outputs token by token. With graphs or lower precision, some may differ by rounding."""
        found = {name: [row for part in split_into_batches(sources, batch) for row in rewrite(part)]
                 for name, rewrite in self.rewrites.items()}  # fmt: skip
        messages = []
        for name in list(found)[1:]:
            equal = sum(own == plain for own, plain in zip(found[name], found[PLAIN], strict=True))
            if equal < len(sources) and name == OURS and self.model.dtype == torch.float32:
                raise SystemExit(f"{name} differs from {PLAIN}: {equal} of {len(sources)} sentences are equal")
            messages.append(f"{name} = {PLAIN} on {equal} of {len(sources)} sentences in batches of {batch}")
        return "; ".join(messages)

    def seconds(self, sources: Sequence[str], batch: int) -> dict[str, list[float]]:
        """Seconds for each batch. The systems alternate, so that changes in machine speed affect all of them."""
        times: dict[str, list[float]] = {name: [] for name in self.rewrites}
        for part in split_into_batches(sources, batch):
            for name, rewrite in self.rewrites.items():
                self._wait()
                start = time.perf_counter()
                rewrite(part)
                self._wait()
                times[name].append(time.perf_counter() - start)
        return times

    def _wait(self) -> None:
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()


def _config(args: argparse.Namespace) -> DecodeConfig:
    return DecodeConfig(method="beam", beams=args.beams, max_tokens=args.max_tokens)


def _redraft(redrafter: Redrafter, sources: Sequence[str]) -> list[Tokens]:
    return [found.candidates[0].tokens for found in redrafter.stream(sources, batch_size=len(sources))]


def split_into_batches(sources: Sequence[str], size: int) -> list[list[str]]:
    return [list(sources[start : start + size]) for start in range(0, len(sources), size)]


def median_and_p95(times: Sequence[float]) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    cuts = statistics.quantiles(times, n=20, method="inclusive") if len(times) > 1 else [times[0]]
    return statistics.median(times) * 1e3, cuts[-1] * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sources", type=Path, required=True, help="one sentence per line, such as ASSET's test sources"
    )
    parser.add_argument("--model", help="a folder or name (default: the bundled model)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--graphs", action="store_true", help="also time redraft with CUDA graphs")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads")
    parser.add_argument("--beams", type=int, default=20)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--check", type=int, default=20, help="sentences compared before timing")
    parser.add_argument("--single", type=int, default=100, help="sentences timed with batch size 1")
    parser.add_argument("--batches", default="8,32", help="batch sizes for throughput")
    parser.add_argument(
        "--repeats",
        type=int,
        default=3,
        help="passes over all sentences per batch size; on a GPU, one more for warm-up",
    )
    parser.add_argument("--most", type=int, help="maximum number of sentences")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="also write the tables to this file")
    args = parser.parse_args()
    if args.graphs and not args.device.startswith("cuda"):
        parser.error("--graphs needs --device cuda")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(args.threads)
    lines: list[str] = []

    def say(text: str = "") -> None:
        print(text, flush=True)
        lines.append(text)

    systems = Systems(args)
    given = args.sources.read_text(encoding="utf-8").splitlines()[: args.most]
    sources = systems.readable([source for source in given if source.strip()])
    batches = [int(size) for size in args.batches.split(",")]
    say(machine(args))
    say(f"{len(sources)} sentences ({len(given) - len(sources)} excluded), beam {args.beams}, at most "
        f"{args.max_tokens} tokens, {systems.model.num_parameters() / 1e6:.1f} M parameters")  # fmt: skip
    for batch in (1, batches[0]):
        say(systems.check(sources[: args.check], batch))
    results: dict[str, Any] = {"machine": machine(args), "sentences": len(sources), "beams": args.beams,
                               "ms_a_sentence": {}, "sentences_a_second": {}}  # fmt: skip

    say("\nOne sentence at a time\n\n| | median, ms | 95th percentile, ms | ratio of medians |\n|---|---|---|---|")
    warm_up = args.device.startswith("cuda")  # each new length captures a graph
    if warm_up:
        systems.seconds(sources[: args.single], 1)
    for name, times in systems.seconds(sources[: args.single], 1).items():
        middle, most = median_and_p95(times)
        results["ms_a_sentence"][name] = {"median": round(middle, 1), "p95": round(most, 1)}
        ratio = middle / results["ms_a_sentence"][PLAIN]["median"]
        say(f"| {name} | {middle:.0f} | {most:.0f} | {ratio:.3f} |")

    say("\nIn batches\n\n| batch | | sentences/s | ratio of times |\n|---|---|---|---|")
    for batch in batches:
        passes = [systems.seconds(sources, batch) for _ in range(args.repeats + warm_up)][warm_up:]
        middles = {name: statistics.median(sum(times[name]) for times in passes) for name in systems.rewrites}
        for name, middle in middles.items():
            rate = len(sources) / middle
            results["sentences_a_second"].setdefault(str(batch), {})[name] = round(rate, 2)
            say(f"| {batch} | {name} | {rate:.1f} | {middle / middles[PLAIN]:.3f} |")
    if args.out:
        args.out.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if args.table:
        args.table.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
