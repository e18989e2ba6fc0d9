"""Compiles plans into clauses: the token sequences with which a model may write each phrase."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from redraft.constrain.clauses import Clause, CompiledPlan, Role, Variant
from redraft.constrain.vocabulary import Vocabulary, vocabulary_of
from redraft.constrain.word_boundaries import allowed_start_states
from redraft.cooperative_scheduling import yield_point
from redraft.errors import PlanError
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import Variants, occurrence_thresholds, starts_source, surface_forms
from redraft.text.words import split_words

# Left contexts of a word, after which a tokenizer may split it differently: start of the text, space, quotation marks.
_CONTEXTS = ("", "a ", '"', "'")
_PROBE_WORDS = ("apple", "The", "succeed", "told", "11", "river")
_MAX_CACHED_PHRASES = 200_000
_MAX_CACHED_PLANS = 20_000
_MAX_EDITS = 2_000  # per sentence: each step of the search processes all of them for every row


@dataclass(frozen=True, slots=True)
class _Tokenized:
    """The token sequences of a surface form, or why it has none."""

    variants: tuple[Variant, ...] = ()
    decoded: str = ""  # the decoded form, which may differ: WordPiece turns 11,000 into 11 , 000
    has_special: bool = False


class Compiler:
    """Compiles plans for one tokenizer and caches the phrases and plans it has seen.

    A phrase is recognised by the tokens of each of its forms after each of `_CONTEXTS`. If a tokenizer merges the end
    of a phrase with the following text (a token "11,", or a phrase ending in punctuation), only the verdict finds it.
    """

    def __init__(self, vocabulary: Vocabulary, variants: Variants = "case") -> None:
        self.vocabulary = vocabulary
        self.variants: Variants = variants
        self._tokenized: dict[str, _Tokenized] = {}
        self._plans: dict[EditPlan, CompiledPlan] = {}
        self._special_seen = False

    def compile(
        self, plans: Iterable[EditPlan], *, on_special: Literal["raise", "impossible"] = "raise"
    ) -> list[CompiledPlan]:
        """One compiled plan for each plan. All new phrases are tokenized in one call."""
        plans = list(plans)
        if len(self._tokenized) > _MAX_CACHED_PHRASES:
            self._tokenized.clear()
        if len(self._plans) > _MAX_CACHED_PLANS:
            self._plans.clear()
        new = [plan for plan in dict.fromkeys(plans) if plan not in self._plans]
        for plan in new:
            _check_size(plan)
        self._tokenize(form for plan in new for edit in plan.edits for form in self._forms_of(plan, edit))
        for plan in new:
            self._plans[plan] = self._compile_one(plan)
        compiled = [self._plans[plan] for plan in plans]
        if on_special == "raise":
            self._refuse_special(plans)
        return compiled

    def forms_in_text(self, plan: EditPlan, phrase: str) -> tuple[str, ...]:
        """The forms of a phrase as they can appear in a text decoded by this tokenizer."""
        plain = self._forms(plan, phrase)
        self._tokenize(plain)
        decoded = (self._tokenized[form].decoded for form in plain)
        return tuple(dict.fromkeys((*plain, *filter(None, decoded))))

    def _forms(self, plan: EditPlan, phrase: str) -> tuple[str, ...]:
        return surface_forms(phrase, self.variants, at_source_start=starts_source(plan.source, phrase))

    def _forms_of(self, plan: EditPlan, edit: Edit) -> list[str]:
        if edit.kind == "split":  # splits are not part of the search
            return []
        return [form for phrase in (edit.phrase, *edit.targets) for form in self._forms(plan, phrase)]

    def _tokenize(self, wanted: Iterable[str]) -> None:
        new = [form for form in dict.fromkeys(wanted) if form not in self._tokenized]
        if not new:
            return
        contexts = list(self._contexts)
        encoded = self.vocabulary.encode([context + form for form in new for context in contexts])
        for place, form in enumerate(new):
            self._tokenized[form] = self._variants_of(encoded[place * len(contexts) : (place + 1) * len(contexts)])
        self._special_seen = self._special_seen or any(self._tokenized[form].has_special for form in new)

    @cached_property
    def _contexts(self) -> dict[str, list[int]]:
        """The contexts after which this tokenizer splits some probe word differently, each with its own tokens."""
        alone = dict(zip(_CONTEXTS[1:], self.vocabulary.encode(_CONTEXTS[1:]), strict=True))
        plain = self.vocabulary.encode(_PROBE_WORDS)
        kept: dict[str, list[int]] = {"": []}
        for context, own in alone.items():
            after = self.vocabulary.encode([context + word for word in _PROBE_WORDS])
            if any(tokens[_common_prefix(tokens, own) :] != word for tokens, word in zip(after, plain, strict=True)):
                kept[context] = own
        return kept

    def _variants_of(self, encoded: Sequence[Sequence[int]]) -> _Tokenized:
        """The distinct token sequences of one form, given its encodings after each of the contexts.

        After a quotation mark, a tokenizer may merge the mark with the word ("'s" + "ucceed"); such a variant includes
        the mark.
        """
        plain, unknown, special_tokens = encoded[0], self.vocabulary.unknown, self.vocabulary.special
        if not plain or -1 in plain or not special_tokens.isdisjoint(plain):
            return _Tokenized(has_special=any(token in special_tokens and token != unknown for token in plain))
        decoded = self._text(plain).strip()
        words = 1 if decoded.isalpha() else len(split_words(decoded))
        variants: dict[tuple[int, ...], Variant] = {}
        for tokens, context in zip(encoded, self._contexts.values(), strict=True):
            own = tuple(tokens[_common_prefix(tokens, context) :])
            if own in variants or not own or -1 in own or not special_tokens.isdisjoint(own):
                continue
            text = self._text(own)
            if text.endswith(decoded):
                starts = allowed_start_states(text[: len(text) - len(decoded)], decoded[:2])
                variants[own] = Variant(own, starts, words)
        return _Tokenized(tuple(variants.values()), decoded)

    def _text(self, tokens: Sequence[int]) -> str:
        return b"".join(self.vocabulary.texts[token] or b"" for token in tokens).decode("utf-8", "replace")

    def _compile_one(self, plan: EditPlan) -> CompiledPlan:
        yield_point(cancel_only=True)  # other work might clear the cached phrases
        clauses: list[Clause] = []
        impossible: dict[int, str] = {}
        thresholds = occurrence_thresholds(plan, self.variants)
        for number, (edit, threshold) in enumerate(zip(plan.edits, thresholds, strict=True)):
            sides: list[tuple[Role, tuple[str, ...], int]]
            if edit.kind == "split":
                continue
            if edit.kind == "substitute":
                sides = [("source", (edit.phrase,), threshold), ("target", edit.targets, 0)]
            else:
                sides = [(edit.kind, (edit.phrase,), threshold)]
            compiled = [self._clause(plan, number, *side) for side in sides]
            if compiled[-1].variants:
                if len(compiled) == 2:
                    compiled[0] = _without(compiled[0], compiled[1])
                place = edit.span[0] if edit.span is not None else -1
                clauses += [replace(clause, place=place) for clause in compiled]
            else:
                impossible[number] = self._reason(plan, sides[-1][1])
        return CompiledPlan(plan, tuple(clauses), impossible, self.vocabulary.tables)

    def _clause(self, plan: EditPlan, number: int, role: Role, phrases: Sequence[str], threshold: int) -> Clause:
        written = [self._tokenized[form] for phrase in phrases for form in self._forms(plan, phrase)]
        variants = {variant.tokens: variant for one in written for variant in one.variants}
        return Clause(role, number, threshold, tuple(variants.values()))

    def _reason(self, plan: EditPlan, phrases: Sequence[str]) -> str:
        return "contains a special token" if self._has_special(plan, phrases) else "cannot be encoded"

    def _has_special(self, plan: EditPlan, phrases: Sequence[str]) -> bool:
        return any(self._tokenized[form].has_special for phrase in phrases for form in self._forms(plan, phrase))

    def _refuse_special(self, plans: Sequence[EditPlan]) -> None:
        if not self._special_seen:
            return
        for number, plan in enumerate(plans, 1):
            for place, edit in enumerate(plan.edits):
                if edit.kind != "split" and self._has_special(plan, (edit.phrase, *edit.targets)):
                    which = f"plan {number}: " if len(plans) > 1 else ""
                    raise PlanError(
                        f"{which}the phrase of edit {place + 1} contains a special token of the tokenizer",
                        "Remove the special token from the phrase; special tokens never occur in a text.",
                        field=f"edits[{place}]",
                    )


_COMPILERS: weakref.WeakKeyDictionary[Vocabulary, dict[Variants, Compiler]] = weakref.WeakKeyDictionary()


def compiler_for(tokenizer: Any, variants: Variants = "case") -> Compiler:
    """The shared compiler of a tokenizer, so that each phrase is encoded only once."""
    vocabulary = vocabulary_of(tokenizer)
    known = _COMPILERS.setdefault(vocabulary, {})
    if variants not in known:
        known[variants] = Compiler(vocabulary, variants)
    return known[variants]


def compile_plans(
    plans: EditPlan | Iterable[EditPlan], tokenizer: Any, *, variants: Variants = "case"
) -> list[CompiledPlan]:
    """Compile plans for a tokenizer, for `model.generate(…, edit_constraints=…)`."""
    return compiler_for(tokenizer, variants).compile([plans] if isinstance(plans, EditPlan) else plans)


def _check_size(plan: EditPlan) -> None:
    if len(plan.edits) > _MAX_EDITS:
        raise PlanError(
            f"a sentence with {len(plan.edits):,} edits is not supported: the limit is {_MAX_EDITS:,} edits.",
            "Split the sentence, or remove edits.",
            field="edits",
        )


def _without(source: Clause, target: Clause) -> Clause:
    """The source clause without the variants of its target: with inflections, a target may be a form of the source."""
    wanted = {variant.tokens for variant in target.variants}
    kept = tuple(variant for variant in source.variants if variant.tokens not in wanted)
    return replace(source, variants=kept)


def _common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length
