"""Score system outputs: measures, corpora, confidence intervals, significance tests and reports."""

from redraft.evaluate.corpora import CORPORA, Corpus, load_corpus, read_corpus
from redraft.evaluate.report.report_files import write_report
from redraft.evaluate.scores import Comparison, Figure, Scores, compare, score

__all__ = [
    "CORPORA",
    "Comparison",
    "Corpus",
    "Figure",
    "Scores",
    "compare",
    "load_corpus",
    "read_corpus",
    "score",
    "write_report",
]
