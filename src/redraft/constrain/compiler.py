"""Plans → clauses: every phrase in the tokens that a model would write it with."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from redraft.cancellation import yield_point
from redraft.constrain.clauses import Clause, CompiledPlan, Role, Variant
from redraft.constrain.vocabulary import Vocabulary, vocabulary_of
from redraft.constrain.word_boundaries import starts_after
from redraft.errors import PlanError
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import Variants, begins, forms, needs
from redraft.text.words import split_words

# Where a word may stand: at the start, after a space, a quote, a bracket. A tokenizer may split it differently in each.
_BEFORE = ("", "a ", '"', "'")
_TRIED = ("apple", "The", "succeed", "told", "11", "river")
_KEEP_PHRASES = 200_000
_KEEP_PLANS = 20_000
_MOST_EDITS = 2_000  # of a sentence: each step of the search looks at them all, for every row


@dataclass(frozen=True, slots=True)
class _Written:
    """A form of a phrase in tokens, or why it has none."""

    variants: tuple[Variant, ...] = ()
    shown: str = ""  # how it reads after the tokenizer: WordPiece turns 11,000 into 11 , 000
    special: bool = False


class Compiler:
    """Compiles plans for one tokenizer and remembers the phrases and plans it has seen.

    A phrase is known by the tokens of each form behind each of `_BEFORE`. Where a tokenizer joins the end of a phrase
    to what follows (a piece "11,", or a phrase that itself ends in punctuation) only the verdict finds it.
    """

    def __init__(self, vocabulary: Vocabulary, variants: Variants = "case") -> None:
        self.vocabulary = vocabulary
        self.variants: Variants = variants
        self._written: dict[str, _Written] = {}
        self._plans: dict[EditPlan, CompiledPlan] = {}
        self._any_special = False

    def compile(
        self, plans: Iterable[EditPlan], *, on_special: Literal["raise", "impossible"] = "raise"
    ) -> list[CompiledPlan]:
        """One compiled plan for each plan; all new phrases go to the tokenizer in one call."""
        plans = list(plans)
        if len(self._written) > _KEEP_PHRASES:
            self._written.clear()
        if len(self._plans) > _KEEP_PLANS:
            self._plans.clear()
        new = [plan for plan in dict.fromkeys(plans) if plan not in self._plans]
        for plan in new:
            _check_size(plan)
        self._write(form for plan in new for edit in plan.edits for form in self._forms_of(plan, edit))
        for plan in new:
            self._plans[plan] = self._compile_one(plan)
        compiled = [self._plans[plan] for plan in plans]
        if on_special == "raise":
            self._refuse_special(plans)
        return compiled

    def forms_in_text(self, plan: EditPlan, phrase: str) -> tuple[str, ...]:
        """The forms of a phrase as they can stand in a text that this tokenizer wrote."""
        plain = self._forms(plan, phrase)
        self._write(plain)
        shown = (self._written[form].shown for form in plain)
        return tuple(dict.fromkeys((*plain, *filter(None, shown))))

    def _forms(self, plan: EditPlan, phrase: str) -> tuple[str, ...]:
        return forms(phrase, self.variants, begins_source=begins(plan.source, phrase))

    def _forms_of(self, plan: EditPlan, edit: Edit) -> list[str]:
        if edit.kind == "split":  # the search does not see it
            return []
        return [form for phrase in (edit.phrase, *edit.targets) for form in self._forms(plan, phrase)]

    def _write(self, wanted: Iterable[str]) -> None:
        new = [form for form in dict.fromkeys(wanted) if form not in self._written]
        if not new:
            return
        before = list(self._before)
        encoded = self.vocabulary.encode([lead + form for form in new for lead in before])
        for place, form in enumerate(new):
            self._written[form] = self._written_as(encoded[place * len(before) : (place + 1) * len(before)])
        self._any_special = self._any_special or any(self._written[form].special for form in new)

    @cached_property
    def _before(self) -> dict[str, list[int]]:
        """The texts of `_BEFORE` behind which this tokenizer splits some word in another way, with their own tokens."""
        alone = dict(zip(_BEFORE[1:], self.vocabulary.encode(_BEFORE[1:]), strict=True))
        plain = self.vocabulary.encode(_TRIED)
        kept: dict[str, list[int]] = {"": []}
        for lead, own in alone.items():
            behind = self.vocabulary.encode([lead + word for word in _TRIED])
            if any(tokens[_common(tokens, own) :] != word for tokens, word in zip(behind, plain, strict=True)):
                kept[lead] = own
        return kept

    def _written_as(self, encoded: Sequence[Sequence[int]]) -> _Written:
        """The distinct token sequences of one form among its encodings behind each of `_before`.

        Behind a quote the tokenizer may join the quote to the word ("'s" + "ucceed"); such a variant keeps the quote.
        """
        plain, unknown, special_tokens = encoded[0], self.vocabulary.unknown, self.vocabulary.special
        if not plain or -1 in plain or not special_tokens.isdisjoint(plain):
            return _Written(special=any(token in special_tokens and token != unknown for token in plain))
        shown = self._text(plain).strip()
        words = 1 if shown.isalpha() else len(split_words(shown))
        variants: dict[tuple[int, ...], Variant] = {}
        for tokens, lead in zip(encoded, self._before.values(), strict=True):
            own = tuple(tokens[_common(tokens, lead) :])
            if own in variants or not own or -1 in own or not special_tokens.isdisjoint(own):
                continue
            text = self._text(own)
            if text.endswith(shown):
                variants[own] = Variant(own, starts_after(text[: len(text) - len(shown)], shown[:2]), words)
        return _Written(tuple(variants.values()), shown)

    def _text(self, tokens: Sequence[int]) -> str:
        return b"".join(self.vocabulary.texts[token] or b"" for token in tokens).decode("utf-8", "replace")

    def _compile_one(self, plan: EditPlan) -> CompiledPlan:
        yield_point(alone=True)  # other work might clear what is known of phrases
        clauses: list[Clause] = []
        impossible: dict[int, str] = {}
        for number, (edit, need) in enumerate(zip(plan.edits, needs(plan, self.variants), strict=True)):
            sides: list[tuple[Role, tuple[str, ...], int]]
            if edit.kind == "split":
                continue
            if edit.kind == "substitute":
                sides = [("source", (edit.phrase,), need), ("target", edit.targets, 0)]
            else:
                sides = [(edit.kind, (edit.phrase,), need)]
            compiled = [self._clause(plan, number, *side) for side in sides]
            if compiled[-1].variants:
                if len(compiled) == 2:
                    compiled[0] = _without(compiled[0], compiled[1])
                place = edit.span[0] if edit.span is not None else -1
                clauses += [replace(clause, place=place) for clause in compiled]
            else:
                impossible[number] = self._reason(plan, sides[-1][1])
        return CompiledPlan(plan, tuple(clauses), impossible, self.vocabulary.tables)

    def _clause(self, plan: EditPlan, number: int, role: Role, phrases: Sequence[str], need: int) -> Clause:
        written = [self._written[form] for phrase in phrases for form in self._forms(plan, phrase)]
        variants = {variant.tokens: variant for one in written for variant in one.variants}
        return Clause(role, number, need, tuple(variants.values()))

    def _reason(self, plan: EditPlan, phrases: Sequence[str]) -> str:
        return "holds a special token" if self._holds_special(plan, phrases) else "cannot be encoded"

    def _holds_special(self, plan: EditPlan, phrases: Sequence[str]) -> bool:
        return any(self._written[form].special for phrase in phrases for form in self._forms(plan, phrase))

    def _refuse_special(self, plans: Sequence[EditPlan]) -> None:
        if not self._any_special:
            return
        for number, plan in enumerate(plans, 1):
            for place, edit in enumerate(plan.edits):
                if edit.kind != "split" and self._holds_special(plan, (edit.phrase, *edit.targets)):
                    which = f"plan {number}: " if len(plans) > 1 else ""
                    raise PlanError(
                        f"{which}the phrase of edit {place + 1} holds a special token of the tokenizer",
                        "Write the phrase without it; special tokens never stand in a text.",
                        field=f"edits[{place}]",
                    )


_COMPILERS: weakref.WeakKeyDictionary[Vocabulary, dict[Variants, Compiler]] = weakref.WeakKeyDictionary()


def compiler_for(tokenizer: Any, variants: Variants = "case") -> Compiler:
    """The compiler of a tokenizer, so that phrases are encoded once however often plans come."""
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
    if len(plan.edits) > _MOST_EDITS:
        raise PlanError(
            f"a sentence with {len(plan.edits):,} edits cannot be searched; {_MOST_EDITS:,} are the most.",
            "Part the sentence, or leave out edits.",
            field="edits",
        )


def _without(source: Clause, target: Clause) -> Clause:
    """With inflections a target may be a form of its source; written, it is the target."""
    wanted = {variant.tokens for variant in target.variants}
    kept = tuple(variant for variant in source.variants if variant.tokens not in wanted)
    return replace(source, variants=kept)


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length
