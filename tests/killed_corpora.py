"""Rewrites a corpus on a cluster of three machines (of this one), kills parts of it, and compares the results.

python tests/killed_corpora.py --rows 20000 [--documents]

Killed are a process that rewrites, a machine, and twice the command itself, which is then resumed. The results must be
those of an undisturbed run of the plain command: each row once, with the same text.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tokenizers_in_memory import TEXT, byte_level

SETTINGS = ["--plan", "none", "--no-check", "--beams", "2", "--max-tokens", "8", "--dtype", "float32"]
WORDS = sorted(set(re.findall("[a-z]+", TEXT)))
SECONDS = 600


class Machines:
    """A cluster of Ray with `count` machines of one CPU each; they share this machine."""

    def __init__(self, count: int = 3) -> None:
        from ray.cluster_utils import Cluster

        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": 100 << 20}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(count - 1):
            self._cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
        self.address = self._cluster.address

    def kill_process(self) -> None:
        """Kill one process that rewrites."""
        next(process for process in self._processes() if process.name().startswith("ray::MapWorke")).kill()

    def kill_machine(self) -> None:
        self._cluster.remove_node(self._cluster.worker_nodes.copy().pop(), allow_graceful=False)

    def shutdown(self) -> None:
        self._cluster.shutdown()

    def _processes(self) -> Iterator[psutil.Process]:
        for node in self._cluster.list_all_nodes():
            for info in node.all_processes.get("raylet", []):
                yield from psutil.Process(info.process.pid).children(recursive=True)


@contextmanager
def machines(count: int = 3) -> Iterator[Machines]:
    found = Machines(count)
    try:
        yield found
    finally:
        found.shutdown()


def write_corpus(folder: Path, rows: int, *, documents: bool, files: int = 10) -> None:
    """Files of sentences, or documents, with and without ids; the same for the same number of rows."""
    rng = random.Random(rows)
    folder.mkdir()
    for number in range(files):
        own = range(number, rows, files)
        with open(folder / f"{number}.jsonl", "w", encoding="utf-8") as file:
            for row in own:
                text = _document(rng, row) if documents else _sentence(rng, row)
                named = {"id": f"row {row}"} if row % 2 else {}
                file.write(json.dumps({**named, "text": text}) + "\n")


def _sentence(rng: random.Random, row: int) -> str:
    return f"{' '.join(rng.choices(WORDS, k=rng.randint(4, 14))).capitalize()} {row}."


def _document(rng: random.Random, row: int) -> str:
    paragraphs = (" ".join(_sentence(rng, row) for _ in range(rng.randint(1, 4))) for _ in range(rng.randint(1, 3)))
    return "\n\n".join(paragraphs)


def save_tiny_model(folder: Path) -> None:
    from small_models import tiny_model_for

    tiny_model_for("t5", byte_level()).save_pretrained(folder)
    byte_level().save_pretrained(folder)


def on_ray(folder: Path, out: str, documents: bool, *more: str) -> list[str]:
    source = "--document" if documents else "--input"
    return [
        sys.executable, "-m", "redraft.cli", "simplify", "--on", "ray", "--model", str(folder / "model"), *SETTINGS,
        source, str(folder / "in" / "*.jsonl"), "--out", str(folder / out), *more,
    ]  # fmt: skip


def finished_files(folder: Path) -> int:
    return sum(1 for path in (folder / "checkpoint").glob("*.parquet") if ".pending" not in path.name)


def results(folder: Path) -> list[bytes]:
    """All result lines, sorted by their rows."""
    lines = [line for path in (folder / "results").iterdir() for line in path.read_bytes().splitlines()]
    return sorted(lines, key=lambda line: json.loads(line)["row"])


def plain_texts(folder: Path, documents: bool) -> list[str]:
    """What the library writes in this process, without Ray."""
    from redraft import Redrafter, Simplifier
    from redraft.decode.config import SIMPLIFY, DecodeConfig

    config = DecodeConfig(**{**SIMPLIFY, "beams": 2, "max_tokens": 8})
    simplifier = Simplifier(
        Redrafter(str(folder / "model"), config=config, device="cpu", dtype="float32"), None, check=None
    )
    lines = [line for path in sorted((folder / "in").iterdir()) for line in path.read_bytes().splitlines()]
    rows = [json.loads(line) for line in lines]
    texts = [row["text"] for row in rows]
    if documents:
        return [simplifier.document(text).text for text in texts]
    return [result.text for result in simplifier.pipe(texts)]


KILLS = ("process", "machine", "command", "resumed command")


def killed_run(
    folder: Path, rows: int, *, documents: bool, rows_per_file: int, kills: Sequence[str] = KILLS
) -> dict[str, Any]:
    """Returns what was killed when, in finished files."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    more = ["--rows-per-file", str(rows_per_file)]
    out = folder / "killed"
    total = -(-rows // rows_per_file)
    seen: dict[str, Any] = {"files": total}
    with machines() as cluster:
        environment["RAY_ADDRESS"] = cluster.address
        command = on_ray(folder, "killed", documents, *more)
        driver = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            for number, what in enumerate(kills, 1):
                _wait_for(out, total * number // (len(kills) + 2), driver)
                seen[what] = finished_files(out)
                if what == "process":
                    cluster.kill_process()
                    continue
                if what == "machine":
                    cluster.kill_machine()
                    continue
                driver.send_signal(signal.SIGKILL)
                driver.wait()
                driver = subprocess.Popen(
                    [*command, "--resume"], env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE
                )
            _, errors = driver.communicate(timeout=SECONDS)
            assert driver.returncode == 0, errors.decode()
        finally:
            driver.kill()
    return seen


def _wait_for(out: Path, files: int, driver: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while finished_files(out) < files:
        assert driver.poll() is None, driver.communicate()[1].decode()
        assert time.monotonic() < deadline, f"{finished_files(out)} of {files} files"
        time.sleep(0.02)


def compare(folder: Path, rows: int, documents: bool) -> None:
    """Each row once, and its text that of a run without Ray."""
    found = [json.loads(line) for line in results(folder / "killed")]
    assert [row["row"] for row in found] == list(range(rows))
    assert not [row for row in found if "error" in row]
    assert [row["text"] for row in found] == plain_texts(folder, documents)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rows-per-file", type=int, default=250)
    parser.add_argument("--documents", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "in", given.rows, documents=given.documents)
        save_tiny_model(folder / "model")
        start = time.monotonic()
        seen = killed_run(folder, given.rows, documents=given.documents, rows_per_file=given.rows_per_file)
        seconds = round(time.monotonic() - start)
        compare(folder, given.rows, given.documents)
        what = "documents" if given.documents else "sentences"
        print(json.dumps({what: given.rows, "killed_after_files": seen, "seconds": seconds, "equal": True}))


if __name__ == "__main__":
    main()
