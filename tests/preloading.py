"""Imports that commands do late, done once in the fork server of kills.py; no tensor is computed."""
# ruff: noqa: F401

import alembic.command
import nltk.corpus.reader
import sqlalchemy.dialects.sqlite
from transformers import BartForConditionalGeneration, BertModel, PreTrainedTokenizerFast

import redraft.evaluate.report.report_files
import redraft.experiment.experiment_resources
import redraft.fit.rewriter.rewriter_training
import redraft.simplify.simplifier
import redraft.tune.study
import small_models
import tokenizers_in_memory
import toy_pairs
from redraft.align.exact_aligner import lemma
from redraft.cli.main import commands

commands()
lemma("houses")  # reads a dictionary
