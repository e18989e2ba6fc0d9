"""Speed of scoring, compared with SARI of Hugging Face `evaluate` (which defines SARI differently).

    python -m benchmarks.bench_evaluate --huggingface sari

`--huggingface` is a name or folder for `evaluate.load`; without it, only redraft is timed.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from benchmarks.bench_search import cpu_name, peak_rss
from benchmarks.workload import made_up_words
from redraft.evaluate import Corpus, score
from redraft.evaluate.measures import Texts, tokenized
from redraft.evaluate.sari import Sari


def make_corpus(sentences: int, references: int, seed: int = 3) -> tuple[Corpus, list[str]]:
    """Made-up sources of 12 to 32 words; in outputs and references, some words are deleted or replaced."""
    rng = random.Random(seed)
    words = made_up_words()

    def rewritten(source: list[str]) -> str:
        kept = [rng.choice(words) if rng.random() < 0.15 else word for word in source if rng.random() < 0.85]
        return " ".join(kept).capitalize() + "."

    sources = [rng.choices(words[:6000], k=rng.randint(12, 32)) for _ in range(sentences)]
    aligned = [[rewritten(source) for source in sources] for _ in range(references + 1)]
    return Corpus("made-up", "test", [" ".join(source) + "." for source in sources], aligned[1:]), aligned[0]


def seconds(run: Callable[[], Any], repeats: int) -> float:
    """Median time of several runs. Token caches are cleared before each."""
    times = []
    for _ in range(repeats):
        for cached in (tokenized, Tokenizer13a.__call__, TokenizerRegexp.__call__):
            cached.cache_clear()
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run_command(corpus: Corpus, outputs: list[str]) -> None:
    """Run `redraft evaluate` on the same texts in a separate process."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, lines in enumerate((corpus.sources, outputs, *corpus.references)):
            names.append(str(Path(folder, str(number))))
            Path(names[-1]).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        source, output, *references = names
        command = [sys.executable, "-m", "redraft.cli", "evaluate", "--source", source, "--reference", *references]
        subprocess.run([*command, "--outputs", output], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--huggingface", metavar="NAME", help="metric for evaluate.load: a name or folder")
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--out", metavar="FILE", help="write the results as JSON")
    args = parser.parse_args()
    found: dict[str, Any] = {"machine": cpu_name()}
    print(found["machine"])

    corpus, outputs = make_corpus(359, 10)
    texts = Texts(corpus.sources, outputs, corpus.references)
    found["all_measures_359x10_s"] = seconds(lambda: score(outputs, corpus), 5)
    print(f"359 sentences, 10 references, all measures with intervals: {found['all_measures_359x10_s']:.2f} s")
    found["command_359x10_s"] = seconds(lambda: run_command(corpus, outputs), 3)
    print(f"the same as a command, including imports: {found['command_359x10_s']:.2f} s")
    found["sari_359x10_s"] = seconds(lambda: Sari().count(texts), 5)
    print(f"359 sentences, 10 references, SARI: {found['sari_359x10_s']:.3f} s")
    if args.huggingface:
        import evaluate

        other = evaluate.load(args.huggingface)
        together = [list(row) for row in zip(*corpus.references, strict=True)]
        found["huggingface_sari_359x10_s"] = seconds(
            lambda: other.compute(sources=corpus.sources, predictions=outputs, references=together), 5
        )
        ratio = found["huggingface_sari_359x10_s"] / found["sari_359x10_s"]
        print(
            f"the same by Hugging Face evaluate: {found['huggingface_sari_359x10_s']:.3f} s, {ratio:.1f} times as long"
        )

    corpus, outputs = make_corpus(args.sentences, 1)
    size = sum(len(text) for rows in (corpus.sources, outputs, *corpus.references) for text in rows) / 2**20
    Path("/proc/self/clear_refs").write_text("5")  # Linux: reset the peak memory
    before = peak_rss() / 2**20
    found["sari_many_s"] = seconds(lambda: score(outputs, corpus, measures=[Sari()]), 1)
    grown = peak_rss() / 2**20 - before
    found["sari_many_mib_beyond_text"] = round(grown, 1)
    print(f"{args.sentences:,} sentences, 1 reference, SARI with intervals: {found['sari_many_s']:.1f} s; "
          f"text {size:.0f} MiB, additional memory {grown:.0f} MiB")  # fmt: skip
    if args.huggingface:
        rows = slice(0, args.sentences // 10)
        together = [[text] for text in corpus.references[0][rows]]
        part = seconds(
            lambda: other.compute(sources=corpus.sources[rows], predictions=outputs[rows], references=together), 1
        )
        found["huggingface_sari_many_s"] = 10 * part
        print(f"Hugging Face evaluate, extrapolated from a tenth of them: {10 * part:.1f} s")
    if args.out:
        Path(args.out).write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
