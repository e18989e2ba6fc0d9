"""redraft on Ray: corpora as files (`simplify_corpus`), and rows of your own datasets (`SimplifyBatches`)."""

from redraft.cluster.corpus import simplify_corpus
from redraft.cluster.corpus_run import CorpusSummary
from redraft.cluster.simplify_batches import SimplifyBatches

__all__ = ["CorpusSummary", "SimplifyBatches", "simplify_corpus"]
