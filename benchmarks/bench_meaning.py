"""Agreement of the meaning check with judgements of readers, compared with BLEU, cosine similarity and BERTScore.

    python -m benchmarks.bench_meaning --ratings DATA/ratings --readings experiments/readings/meaning*.jsonl \
        --encoder ENCODER --out benchmarks/meaning.json

ENCODER is the folder of a sentence encoder (all-MiniLM-L6-v2). AUC: the probability that a text with an error has a
higher risk than one without.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from redraft.check.exact_checks import findings
from redraft.check.meaning import Meaning
from redraft.check.meaning_check import MeaningCheck
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.measures import Texts
from redraft.fit.calibration import auc
from redraft.text.words import split_words

Pair = tuple[str, str]
_BAD = frozenset({"Altered Meaning-L", "Altered Meaning-S", "Hallucination"})
_FINE = frozenset({"No error"})


class Sets:
    """Sentence pairs with judgements of readers."""

    def __init__(self, ratings: Path | None, readings: Sequence[Path]) -> None:
        self.errors = [json.loads(line) for line in _lines(ratings and ratings / "errors_turk_asset.jsonl")]
        self.errors = [row for row in self.errors if _kinds(row) & _BAD or _kinds(row) == _FINE]
        path = ratings and ratings / "likert_turk_asset.tsv"
        self.rated = list(csv.DictReader(_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE))
        self.read = {path.stem: [json.loads(line) for line in _lines(path)] for path in readings}

    def figures(self, score: Callable[[Sequence[Pair]], Sequence[float]]) -> dict[str, float]:
        """AUC and correlation of `score`, where higher means a worse output."""
        found: dict[str, float] = {}
        if self.errors:
            scores = np.array(score([_pair(row) for row in self.errors]), np.float64)
            kinds = [_kinds(row) for row in self.errors]
            found["errors_auc"] = auc(scores, np.array([bool(kind & _BAD) for kind in kinds]))
            for name in sorted(_BAD):
                some = [at for at, kind in enumerate(kinds) if name in kind or kind == _FINE]
                found[f"errors_auc_{name}"] = auc(scores[some], np.array([name in kinds[at] for at in some]))
        if self.rated:
            scores = np.array(score([_pair(row) for row in self.rated]), np.float64)
            meaning = np.array([float(row["meaning"]) for row in self.rated])
            found["rated_pearson"] = float(-np.corrcoef(scores, meaning)[0, 1])
        for name, rows in self.read.items():
            scores = np.array(score([_pair(row) for row in rows]), np.float64)
            clear = [at for at, row in enumerate(rows) if sum(row["altered"]) != 1]  # the readers agree
            found[f"{name}_auc"] = auc(scores[clear], np.array([bool(sum(rows[at]["altered"])) for at in clear]))
        return {name: round(value, 3) for name, value in found.items()}

    def spans(self, check: MeaningCheck) -> dict[str, float]:
        """Of the outputs with an error and an alarm: how many have a word in common with the annotated spans."""
        bad = [row for row in self.errors if _kinds(row) & _BAD]
        shared = flagged = 0
        for row, meaning in zip(bad, check.check(_pair(row) for row in bad), strict=True):
            if meaning.alarm:
                flagged += 1
                shared += bool(_marked(row) & _words(" ".join(meaning.words)))
        return {"flagged": flagged, "of": len(bad), "share_a_word": round(shared / max(1, flagged), 3)}

    def alarms(self, name: str, check: MeaningCheck) -> dict[str, float]:
        """Alarms on wrong and on correct outputs, for the pairs on which two readers agree."""
        found: list[Meaning] = list(check.check(_pair(row) for row in self.read[name]))
        both = [(sum(row["altered"]), one.alarm) for row, one in zip(self.read[name], found, strict=True)]
        wrong, right = [alarm for count, alarm in both if count == 2], [alarm for count, alarm in both if not count]
        return {"wrong": len(wrong), "found": sum(wrong), "right": len(right), "false_alarms": sum(right)}


def _pair(row: dict[str, Any]) -> Pair:
    return row["source"], row["output"]


def _kinds(row: dict[str, Any]) -> frozenset[str]:
    return frozenset(error["kind"] for error in row["errors"])


def _words(text: str) -> set[str]:
    return {word.text.lower() for word in split_words(text) if any(map(str.isalnum, word.text))}


def _marked(row: dict[str, Any]) -> set[str]:
    errors = (error for error in row["errors"] if error["kind"] in _BAD)
    return {
        word for error in errors for span in (*error["source_spans"], *error["output_spans"]) for word in _words(span)
    }


def _lines(path: Path | None) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path else []


def negative_bleu(pairs: Sequence[Pair]) -> list[float]:
    """Negative BLEU of the output against its source."""
    measure = Bleu()
    sources, outputs = [source for source, _ in pairs], [output for _, output in pairs]
    counts = measure.count(Texts(sources, outputs, [sources]))
    return [-float(measure.figures(row)["bleu"]) for row in counts]


class Cosine:
    """Negative cosine similarity of mean-pooled sentence vectors."""

    def __init__(self, encoder: str) -> None:
        from transformers import AutoModel, AutoTokenizer

        self._model: Any = AutoModel.from_pretrained(encoder).eval()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(encoder)

    def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        found: list[float] = []
        for start in range(0, len(pairs), 32):
            some = pairs[start : start + 32]
            one, two = (self._vectors([pair[side] for pair in some]) for side in (0, 1))
            found += (-(one * two).sum(-1)).tolist()
        return found

    @torch.inference_mode()
    def _vectors(self, texts: Sequence[str]) -> torch.Tensor:
        batch = self._tokenizer(list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt")
        states, mask = self._model(**batch).last_hidden_state, batch["attention_mask"][..., None]
        return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1)


def bert_score(encoder: str) -> Callable[[Sequence[Pair]], list[float]]:
    """Negative BERTScore F1 of the output against its source."""
    from redraft.evaluate.bertscore import BertScore

    def score(pairs: Sequence[Pair]) -> list[float]:
        sources, outputs = [source for source, _ in pairs], [output for _, output in pairs]
        measure = BertScore(encoder)
        counts = measure.count(Texts(sources, outputs, [sources]))
        return [-float(measure.figures(row)["bertscore"]) for row in counts]

    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ratings", type=Path, help="folder with errors_turk_asset.jsonl and likert_turk_asset.tsv")
    parser.add_argument(
        "--readings",
        type=Path,
        nargs="*",
        default=[],
        help="JSON Lines with source, output, and altered: one value per reader",
    )
    parser.add_argument("--encoder", help="a sentence encoder, for cosine similarity and BERTScore")
    parser.add_argument("--checker", help="a folder of redraft train-checker (default: the bundled checker)")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    sets, check = Sets(args.ratings, args.readings), MeaningCheck.load(args.checker)
    scorers: dict[str, Callable[[Sequence[Pair]], Sequence[float]]] = {
        "meaning check": lambda pairs: [one.risk for one in check.check(pairs)],
        "rules alone": lambda pairs: [len(findings(*pair)) for pair in pairs],
        "BLEU against the source": negative_bleu,
    }
    if args.encoder:
        scorers |= {"cosine": Cosine(args.encoder), "BERTScore": bert_score(args.encoder)}
    report: dict[str, Any] = {}
    for name, score in scorers.items():
        report[name] = sets.figures(score)
        print(name, json.dumps(report[name]), flush=True)
    if args.ratings:
        report["spans"] = sets.spans(check)
    for name in sets.read:
        report[f"{name}_alarms"] = sets.alarms(name, check)
    print(json.dumps({name: one for name, one in report.items() if name not in scorers}))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
