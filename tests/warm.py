"""What commands load late, loaded once by the process that those of kills.py are forked from; no tensor is computed."""
# ruff: noqa: F401

import alembic.command
import nltk.corpus.reader
import sqlalchemy.dialects.sqlite
from transformers import BartForConditionalGeneration, BertModel, PreTrainedTokenizerFast

import redraft.decode.simplifier
import redraft.evaluate.report.writers
import redraft.experiment.laboratory
import redraft.fit.rewriter
import redraft.tune.study
import small_models
import tokenizers_in_memory
import toy_pairs
from redraft.align.exact import lemma
from redraft.cli.main import commands

commands()
lemma("houses")  # reads a dictionary
