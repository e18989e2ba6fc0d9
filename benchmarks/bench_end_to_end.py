"""Speed of the whole pipeline (plan, rewrite, verdicts, meaning check) with the defaults; texts are compared first.

python -m benchmarks.bench_end_to_end --data EVAL --out benchmarks/end_to_end_cpu.json
python -m benchmarks.bench_end_to_end --data EVAL --device cuda --workers 12 --out benchmarks/end_to_end_h200.json

On a CPU, CTranslate2 with the same weights, in 8 bits and with plain beam search, is timed in the same run if it is
installed; it does nothing but the search.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from redraft import Result, Simplifier  # before torch, so that its idle threads do not spin
from redraft.align.encoders import chosen_device
from redraft.decode.config import SIMPLIFY
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.corpora import load_corpus
from redraft.evaluate.sari import Sari
from redraft.evaluate.scores import score
from redraft.simplify.process_pool import ProcessPool
from redraft.threads import set_threads

Texts = list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the corpora turk and asset")
    parser.add_argument("--device", help="default: a GPU if there is one")
    parser.add_argument("--dtype", help="default: that of Simplifier")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--workers", type=int, default=1, help="processes for the throughput of a file")
    parser.add_argument("--copies", type=int, default=1, help="how often the sources are repeated for the throughput")
    parser.add_argument("--most", type=int, help="only the first sentences of each corpus")
    parser.add_argument(
        "--skip", default="", help="parts to leave as they are in --out, separated by commas: " + ", ".join(PARTS)
    )
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.threads = set_threads(args.threads)
    args.device = chosen_device(args.device).type
    from benchmarks.bench_search import machine  # imports torch

    known = json.loads(args.out.read_text(encoding="utf-8")) if args.skip and args.out and args.out.exists() else {}
    report: dict[str, Any] = {**known, "machine": machine(args), "threads": args.threads}
    for name, part in PARTS.items():
        if name in args.skip.split(","):
            continue
        report[name] = part(args)
        print(name, json.dumps(report[name], ensure_ascii=False, indent=1), flush=True)
        if args.out:
            args.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sources_of(args: argparse.Namespace, corpus: str = "asset") -> Texts:
    return list(load_corpus(corpus, "test", data=args.data).sources)[: args.most]


def simplifier_of(args: argparse.Namespace, dtype: str | None = None, **settings: Any) -> Simplifier:
    return Simplifier(device=args.device, dtype=dtype or args.dtype, **settings)


def equality(args: argparse.Namespace) -> dict[str, Any]:
    """Default texts against a search of every sentence in float32, sentence by sentence, with scores of both."""
    found: dict[str, Any] = {}
    fast, exact = simplifier_of(args), simplifier_of(args, "float32")
    for name in ("turk", "asset"):
        corpus = load_corpus(name, "test", data=args.data)
        sources = sources_of(args, name)
        texts = {
            "search of every sentence, float32": texts_of(exact, sources, **EVERY_SENTENCE),
            "first pass, float32": texts_of(exact, sources),
            "defaults": texts_of(fast, sources),
        }
        expected = texts["search of every sentence, float32"]
        for system, outputs in texts.items():
            equal = sum(one == other for one, other in zip(outputs, expected, strict=True))
            figures = {} if args.most else score(outputs, corpus, measures=[Sari(), Bleu()], samples=0).figures
            found.setdefault(name, {})[system] = {
                "equal": equal, "of": len(sources),
                **{measure: round(figures[measure].value, 2) for measure in ("sari", "bleu") if figures},
            }  # fmt: skip
    return found


EVERY_SENTENCE = {**SIMPLIFY, "min_tokens": 1}  # a setting of the search switches the first pass off


def texts_of(simplifier: Simplifier, sources: Sequence[str], **settings: Any) -> Texts:
    return [result.text for result in simplifier.pipe(sources, **settings)]


def one_at_a_time(args: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of each sentence of ASSET's test sources, alone, and beside two busy processes on a CPU."""
    simplifier, sources = simplifier_of(args), sources_of(args)
    texts_of(simplifier, sources[:5])
    found = {"alone": latencies(simplifier, sources)}
    if args.device == "cpu":
        with busy_processes(2):
            found["beside two busy processes"] = latencies(simplifier, sources[:100])
    return found


def latencies(simplifier: Simplifier, sources: Sequence[str]) -> dict[str, float]:
    def timed(source: str) -> float:
        began = time.perf_counter()
        simplifier(source)
        return 1e3 * (time.perf_counter() - began)

    return quantiles([timed(source) for source in sources])


def quantiles(times: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"median ms": round(cuts[9], 1), "p95 ms": round(cuts[18], 1), "mean ms": round(statistics.mean(times), 1)}


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(1)
        yield
    finally:
        for process in started:
            process.kill()


def files(args: argparse.Namespace) -> dict[str, Any]:
    """Sentences a second when many are given at once, in this process and in several."""
    sources = sources_of(args) * args.copies
    simplifier = simplifier_of(args)
    texts_of(simplifier, sources[:300])
    found = {
        "sentences": len(sources),
        "one process": per_second(simplifier.pipe, sources[: max(1000, len(sources) // 8)]),
    }
    found["planning alone"] = per_second(simplifier.plans, sources[: max(1000, len(sources) // 8)])
    if args.workers > 1:
        del simplifier
        factory = partial(Simplifier, device=args.device, dtype=args.dtype)
        with ProcessPool(factory, args.workers, on_gpu=args.device == "cuda") as pool:
            list(pool.pipe(sources[: 2048 * args.workers]))  # all workers have loaded their models
            found[f"{args.workers} processes"] = per_second(pool.pipe, sources)
    return found


def per_second(work: Callable[[Sequence[str]], Iterator[Result]], sources: Sequence[str]) -> float:
    began = time.perf_counter()
    count = sum(1 for _ in work(sources))
    return round(count / (time.perf_counter() - began), 1)


def ctranslate2(args: argparse.Namespace) -> dict[str, Any]:
    """CTranslate2, 8 bits, plain beam search with 4 beams, on the same sources, and the defaults in turn."""
    if args.device != "cpu":
        return {}
    try:
        import ctranslate2 as engine
        from ctranslate2.converters import TransformersConverter
    except ImportError:
        return {"not installed": True}
    simplifier, sources = simplifier_of(args), sources_of(args)
    ordinary = simplifier_of(args, "float32").redrafter  # of transformers, as the converter needs it
    with tempfile.TemporaryDirectory() as folder:
        exact, tokenizer = ordinary.model, ordinary.tokenizer
        exact.config.normalize_before, exact.config.normalize_embedding = True, True
        exact.save_pretrained(f"{folder}/model")
        tokenizer.save_pretrained(f"{folder}/model")
        TransformersConverter(f"{folder}/model").convert(f"{folder}/converted", quantization="int8")
        translator = engine.Translator(f"{folder}/converted", device="cpu", intra_threads=args.threads)

        start = tokenizer.convert_ids_to_tokens(exact.generation_config.decoder_start_token_id)

        def translate(source: str) -> Any:
            tokens = tokenizer.convert_ids_to_tokens(tokenizer(source)["input_ids"])
            return translator.translate_batch([tokens], target_prefix=[[start]], beam_size=4)

        for source in sources[:5]:
            translate(source)
        times: dict[str, list[float]] = {"ctranslate2, search alone": [], "defaults, everything": []}
        for source in sources:
            for name, work in zip(times, (translate, simplifier), strict=True):
                began = time.perf_counter()
                work(source)
                times[name].append(1e3 * (time.perf_counter() - began))
    found: dict[str, Any] = {name: quantiles(some) for name, some in times.items()}
    ours, theirs = (found[name]["median ms"] for name in reversed(times))
    return {**found, "ratio of medians": round(ours / theirs, 2)}


def start(args: argparse.Namespace) -> dict[str, Any]:
    """Seconds from the start of a command to its end, with everything loaded from the file cache."""
    commands = {"redraft --help": ["--help"], "redraft simplify": ["simplify", "--device", args.device, "They left."]}
    return {name: command_seconds(words) for name, words in commands.items()}


def command_seconds(words: Sequence[str]) -> float:
    def once() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "redraft.cli", *words], check=True, capture_output=True)
        return time.perf_counter() - began

    once()
    return round(statistics.median(once() for _ in range(5)), 2)


def memory(args: argparse.Namespace) -> dict[str, Any]:
    """Peak memory of a process that loads everything and rewrites ASSET's test sources, one at a time and as a file."""
    code = (
        "import sys; from redraft import Simplifier; simplifier = Simplifier(device=sys.argv[1]);"
        "texts = sys.stdin.read().splitlines(); list(map(simplifier, texts)); list(simplifier.pipe(texts))"
    )
    text = "\n".join(sources_of(args))
    subprocess.run([sys.executable, "-c", code, args.device], input=text, text=True, check=True)
    return {"peak MB": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024}


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "memory": memory, "start": start, "equality": equality, "one at a time": one_at_a_time, "files": files,
    "ctranslate2": ctranslate2,
}  # fmt: skip


if __name__ == "__main__":
    main()
