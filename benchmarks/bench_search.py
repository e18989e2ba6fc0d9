"""Edit-constrained search compared with plain beam search of `transformers`: same weights, outputs checked first.

python -m benchmarks.bench_search --device cpu --out benchmarks/cpu.json
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import LogitsProcessorList

import redraft
from benchmarks.check import check_beam, check_edit, check_graphs
from benchmarks.workload import BART_BASE, SMALL, EndAtSourceLength, make_inputs, make_model, make_plans, make_tokenizer
from redraft import DecodeConfig, EditPlan
from redraft.constrain.clauses import CompiledPlan
from redraft.constrain.compiler import Compiler
from redraft.constrain.packed_plans import cached_layout
from redraft.constrain.vocabulary import vocabulary_of
from redraft.decode.cuda_graphs import Graphs


class Bench:
    """The benchmark model and the timed runs."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.device: str = args.device
        self.dtype = getattr(torch, args.dtype)
        self.tokenizer = make_tokenizer()
        self.model = make_model(SMALL if args.small else BART_BASE, self.device, self.dtype)
        self.graphs = Graphs()

    def fixed(self) -> dict[str, Any]:
        """Settings for outputs of a fixed length; `no_end` forbids the EOS token."""
        return {"num_beams": self.args.beams, "max_new_tokens": self.args.length, "do_sample": False}

    def plain(self, plans: list[EditPlan], settings: dict[str, Any]) -> Any:
        return self.model.generate(**make_inputs(plans, self.device), **settings)

    def ours(self, plans: list[EditPlan], settings: dict[str, Any], method: str, graphs: Graphs | None = None) -> Any:
        """The search with a new compiler, so that compilation is timed and never cached."""
        return self.search(plans, Compiler(vocabulary_of(self.tokenizer)).compile(plans), settings, method, graphs)

    def search(
        self,
        plans: list[EditPlan],
        compiled: list[CompiledPlan],
        settings: dict[str, Any],
        method: str,
        graphs: Graphs | None = None,
    ) -> Any:
        return self.model.generate(
            **make_inputs(plans, self.device),
            **settings,
            custom_generate=redraft.generate,
            edit_constraints=compiled,
            edit_config=DecodeConfig(method=method, beams=self.args.beams),  # type: ignore[arg-type]
            edit_graphs=graphs,
        )

    def seconds(self, run: Callable[[], Any], warm: int, repeats: int) -> list[float]:
        for _ in range(warm):
            run()
        times = []
        for _ in range(repeats):
            self._wait()
            start = time.perf_counter()
            run()
            self._wait()
            times.append(time.perf_counter() - start)
        return times

    def _wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def interleaved(self, runs: dict[str, Callable[[], Any]], warm: int, repeats: int) -> dict[str, list[float]]:
        """Alternate between the runs, so that changes in machine speed affect all of them."""
        times: dict[str, list[float]] = {name: [] for name in runs}
        for run in runs.values():
            for _ in range(warm):
                run()
        for _ in range(repeats):
            for name, run in runs.items():
                times[name] += self.seconds(run, 0, 1)
        return times

    def no_end(self) -> None:
        """Forbid EOS by the model's output bias. Graphs do not run logits processors, so those could not be used."""
        self.model.final_logits_bias[0, self.model.config.eos_token_id] = -1e4

    def compare(self, batch: int, repeats: int) -> dict[str, list[float]]:
        plans = make_plans(batch, seed=batch)
        settings = self.fixed()
        runs: dict[str, Callable[[], Any]] = {
            "plain": lambda: self.plain(plans, settings),
            "beam": lambda: self.ours(plans, settings, "beam"),
            "edit": lambda: self.ours(plans, settings, "edit"),
        }
        if self.device == "cuda":
            runs["edit, step by step"] = lambda: self.launched(plans, settings)
            runs["edit, model in the graph"] = lambda: self.ours(plans, settings, "edit", self.graphs)
            runs["beam, model in the graph"] = lambda: self.ours(plans, settings, "beam", self.graphs)
        return self.interleaved(runs, self.args.warm, repeats)

    def first_calls(self, batch: int) -> dict[str, str]:
        """Milliseconds of the first run with CUDA graphs, including capture."""
        plans, settings, found = make_plans(batch, seed=batch), self.fixed(), {}
        for method in ("edit", "beam") if self.device == "cuda" else ():
            seconds = self.seconds(functools.partial(self.ours, plans, settings, method, self.graphs), 0, 1)[0]
            found[f"{method}, model in the graph"] = f"{seconds * 1e3:.0f}"
        return found

    def launched(self, plans: list[EditPlan], settings: dict[str, Any]) -> Any:
        """The search without CUDA graphs: every kernel is launched separately."""
        with unittest.mock.patch("redraft.decode.cuda_graphs.step_graphs", return_value=_NoGraphs()):
            return self.ours(plans, settings, "edit")

    def natural(self, batch: int, repeats: int) -> list[dict[str, Any]]:
        """Sentences end at EOS. Without graphs only, as a logits processor makes EOS likely."""
        plans = make_plans(batch, seed=100 + batch)
        end = self.model.config.eos_token_id
        mask = make_inputs(plans, self.device)["attention_mask"]
        settings = {
            "num_beams": self.args.beams,
            "max_new_tokens": 2 * self.args.length,
            "do_sample": False,
            "logits_processor": LogitsProcessorList([EndAtSourceLength(mask, self.args.beams, end)]),
        }
        runs = {
            "plain": lambda: self.plain(plans, settings),
            "beam": lambda: self.ours(plans, settings, "beam"),
            "edit": lambda: self.ours(plans, settings, "edit"),
        }
        times = self.interleaved(runs, self.args.warm, repeats)
        rows = []
        for name, run in runs.items():
            ends = [(row[1:] == end).nonzero() for row in run()]
            lengths = [int(found[0]) + 1 if len(found) else 2 * self.args.length for found in ends]
            rows.append({"name": name, "seconds": times[name], "tokens": statistics.mean(lengths)})
        return rows

    def growth(self, batch: int, repeats: int) -> dict[str, list[float]]:
        """Time with 0 and 50 edits. Forces the `edit` code path: plans without edits would use plain beam search."""
        settings = self.fixed()
        many = make_plans(batch, seed=7, insertions=26, deletions=14, substitutions=10)
        tables = vocabulary_of(self.tokenizer).tables
        none = [CompiledPlan(EditPlan(plan.source, plan.edits[:1]), (), {0: "left out"}, tables) for plan in many]
        runs = {
            "0 edits": lambda: self.search(many, none, settings, "edit"),
            "50 edits": lambda: self.ours(many, settings, "edit"),
        }
        with unittest.mock.patch("redraft.decode.step.is_plain", return_value=False):
            return self.interleaved(runs, self.args.warm, repeats)

    def peak_memory(self) -> dict[str, float]:
        """Peak memory in bytes including the model, each in a separate process; on a GPU, allocator-reserved memory."""
        return {name: _in_own_process(name, self.args) for name in ("plain", "edit")}

    def compile_speed(self, count: int = 10000) -> float:
        plans = make_plans(count, seed=11)
        start = time.perf_counter()
        for compiled in Compiler(vocabulary_of(self.tokenizer)).compile(plans):
            cached_layout(compiled)
        return time.perf_counter() - start


class _NoGraphs:
    def runner(self, *args: Any, **kwargs: Any) -> None:
        return None


def _in_own_process(name: str, args: argparse.Namespace) -> float:
    command = [sys.executable, "-m", "benchmarks.bench_search", "--memory-of", name, "--device", args.device]
    command += [
        "--dtype",
        args.dtype,
        "--length",
        str(args.length),
        "--beams",
        str(args.beams),
        *(["--small"] if args.small else []),
    ]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def _memory_of(bench: Bench, name: str) -> None:
    bench.no_end()
    plans, settings = make_plans(8, seed=8), bench.fixed()
    for _ in range(3 if bench.device == "cuda" else 1):
        bench.plain(plans, settings) if name == "plain" else bench.ours(plans, settings, "edit")
    if bench.device == "cuda":
        print(torch.cuda.max_memory_reserved())
        return
    print(peak_rss())


def peak_rss() -> int:
    """Peak resident memory of this process in bytes. Not ru_maxrss on Linux, which includes the parent process."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read_text())[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def spread(times: list[float]) -> str:
    """Median [first quartile, third quartile] in milliseconds."""
    if len(times) < 2:
        return f"{times[0] * 1e3:.0f}"
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return f"{middle * 1e3:.0f} [{low * 1e3:.0f}, {high * 1e3:.0f}]"


def machine(args: argparse.Namespace) -> str:
    name = torch.cuda.get_device_name() if args.device == "cuda" else cpu_name()
    return (
        f"{name} · {args.dtype} · {torch.get_num_threads()} threads · python {platform.python_version()} · torch "
        f"{torch.__version__} · transformers {transformers.__version__} · redraft {redraft.__version__}"
    )


def cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    names = (
        [line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        if info.exists()
        else []
    )
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--beams", type=int, default=20)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--warm", type=int, default=2, help="warm-up runs; the second one captures graphs")
    parser.add_argument("--repeats", default="5,5,5", help="timed runs for each batch size")
    parser.add_argument("--small", action="store_true", help="a small model, to test the benchmark")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="also write the tables to this file")
    parser.add_argument("--memory-of", choices=["plain", "edit"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    transformers.logging.set_verbosity_error()
    bench = Bench(args)
    if args.memory_of:
        _memory_of(bench, args.memory_of)
        return
    lines: list[str] = []

    def say(text: str = "") -> None:
        print(text, flush=True)
        lines.append(text)

    say(machine(args))
    bench.no_end()
    say(check_beam(bench))
    say(check_edit(bench))
    if args.device == "cuda":
        say(check_graphs(bench))
    results: dict[str, Any] = {
        "ratio_to_plain": {},
        "ms_per_step": {},
        "plain_ms_per_step": {},
        "machine": machine(args),
    }
    say(f"\nFixed length {args.length}, beam {args.beams}; 6 insertions, 3 deletions, 2 substitutions\n")
    say(
        "| batch | search | ms/batch, median [quartiles] | ms/step | ratio to plain | first call, ms |\n"
        "|---|---|---|---|---|---|"
    )
    repeats = [int(number) for number in args.repeats.split(",")]
    for batch, count in zip([int(size) for size in args.batches.split(",")], repeats, strict=False):
        first = bench.first_calls(batch)
        times = bench.compare(batch, count)
        plain = statistics.median(times["plain"])
        for name, measured in times.items():
            middle = statistics.median(measured)
            cells = [batch, name, spread(measured), f"{middle / args.length * 1e3:.2f}", f"{middle / plain:.3f}"]
            say(f"| {' | '.join(str(cell) for cell in cells)} | {first.get(name, '')} |")
        for prefix, name in (("", "edit"), ("graph_", "edit, model in the graph")):
            if name in times:
                middle = statistics.median(times[name])
                results.setdefault(f"{prefix}ratio_to_plain", {})[str(batch)] = round(middle / plain, 4)
                results.setdefault(f"{prefix}ms_per_step", {})[str(batch)] = round(middle / args.length * 1e3, 3)
        results["plain_ms_per_step"][str(batch)] = round(plain / args.length * 1e3, 3)
    say("\nNatural length, batch 8\n\n| search | ms/batch | tokens/output |\n|---|---|---|")
    for row in bench.natural(8, max(1, repeats[1] // 2) if len(repeats) > 1 else 2):
        say(f"| {row['name']} | {spread(row['seconds'])} | {row['tokens']:.1f} |")
    growth = bench.growth(8, max(3, repeats[1] if len(repeats) > 1 else 3))
    results["growth_0_to_50_edits"] = round(
        statistics.median(growth["50 edits"]) / statistics.median(growth["0 edits"]), 4
    )
    grown = " · ".join(f"{name} {spread(measured)} ms" for name, measured in growth.items())
    say(f"\n{grown} · ratio {results['growth_0_to_50_edits']}")
    peaks = bench.peak_memory()
    results["peak_memory_ratio"] = round(peaks["edit"] / peaks["plain"], 4)
    say(f"peak memory, batch 8: plain {peaks['plain'] / 2**20:.0f} MiB, edit {peaks['edit'] / 2**20:.0f} MiB")
    results["compile_10000_plans_s"] = round(bench.compile_speed(), 2)
    say(f"compiling 10,000 plans: {results['compile_10000_plans_s']} s")
    if args.out:
        args.out.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    if args.table:
        args.table.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
