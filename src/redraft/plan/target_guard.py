"""Refuses targets that would change the meaning: opposites, look-alikes, coordinate terms, other quantities.

Uses the relations of WordNet and the hand-made lists of `target_guard_tables`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from pathlib import Path
from unicodedata import combining, normalize

from redraft.models import bundled
from redraft.plan.target_guard_tables import (
    CONCRETE_KINDS,
    CONTRASTS,
    DENIALS,
    DERIVATIONAL_SUFFIXES,
    FORMAL_ENDINGS,
    INFLECTION_RULES,
    NEGATIVE_PREFIXES,
    NEGATIVE_WORDS,
    NEUTRAL_PREFIXES,
    NOT_NEGATED,
    NOT_OPPOSITE,
    NOUN_ENDINGS,
    OPPOSED_AFFIXES,
    PARTIAL_NEGATIONS,
    REPLACED_BY_GENERAL_WORD,
    REPLACED_BY_VAGUE_VERB,
    SPELLING_VARIANTS,
)
from redraft.plan.wordnet_relations import MAX_DEPTH, WordNetRelations, read_relations
from redraft.text.function_words import is_content
from redraft.text.names import is_negation

_MAX_CACHED = 65_536  # entries of each cache
_NOT_CACHED = "not cached"
_MAX_TERM_WORDS = 4  # words
_HYPERNYM_STEPS = 2  # steps up within which a hypernym counts as related
_MIN_PARENT_DEPTH = 5  # depth below which the hyponyms of a synset are coordinate terms
_MANY_HYPONYMS = 12  # hyponyms from which a word is general enough to replace any of them
_MIN_STEM = 6  # letters shared by words of one stem
_MIN_LOOK_ALIKE = 5  # letters; shorter words do not count as look-alikes
_MAX_DISTANCE_RATIO = 0.25  # edits per letter up to which words look alike
_MAX_DISTANCE = 4  # and edits in total


class TargetGuard:
    """Decides which targets must not replace a phrase."""

    def __init__(self, rows: Iterable[list[str]]) -> None:
        self._table = WordNetRelations.of(rows)
        self._contrast_cells = _index_contrasts()
        self._form_cache: dict[str, frozenset[str]] = {}
        self._reason_cache: dict[tuple[str, str], str | None] = {}

    @classmethod
    def load(cls, path: str | Path | None = None) -> TargetGuard:
        """Load a table written by `redraft.fit.planner.wordnet_tables`, by default the bundled one."""
        path = path or bundled("planner") / "wordnet_relations.tsv.xz"
        return cls(read_relations(path))

    def refusal_reason(self, phrase: str, target: str) -> str | None:
        """Why a target must not replace a phrase, in a few words; None if it may."""
        pair = phrase.lower(), target.lower()
        if (found := self._reason_cache.get(pair, _NOT_CACHED)) is _NOT_CACHED:
            if len(self._reason_cache) >= _MAX_CACHED:  # not read back below: another thread may clear it
                self._reason_cache.clear()
            found = self._reason_cache[pair] = self._find_reason(*pair)
        return found

    def _find_reason(self, phrase: str, target: str) -> str | None:
        ones, others = self.base_forms(phrase), self.base_forms(target)
        if ones & others:
            return None
        same, reason = self._contrasting(ones, others)
        if reason:
            return reason
        if reason := _negated(phrase, target, ones, others):
            return reason
        if _normalise_spelling(phrase) == _normalise_spelling(target):
            return None
        core, other = _strip_common(phrase, target)
        if not core or not other or " " in core or " " in other:
            return None
        ones, others = self.base_forms(core), self.base_forms(other)
        if any(self._are_opposite(one, two) for one in ones for two in others):
            return "the opposite"
        if any(ones.isdisjoint(fine) for wide, fine in REPLACED_BY_GENERAL_WORD.items() if wide in others):
            return "too vague"
        if same or self._are_related(ones, others):
            return None
        if self._have_opposite_heads(ones, others) or self._are_indirect_opposites(ones, others):
            return "the opposite"
        if _looks_alike(core, other, ones, others):
            return "a different word that looks alike"
        if self._are_coordinate(core, other):
            return "another thing of the same kind"
        if any(ones.isdisjoint(fine) for verb, fine in REPLACED_BY_VAGUE_VERB.items() if verb in others):
            return "too vague"
        if self._is_unknown(core, ones) and self._is_unknown(other, others) and not _derived(core, other):
            return "another name"
        return None

    def _is_unknown(self, word: str, forms: Set[str]) -> bool:
        """Whether WordNet lacks a word: a name, an abbreviation, or a very rare word."""
        return word.isalpha() and is_content(word) and forms.isdisjoint(self._table.senses)

    def base_forms(self, phrase: str) -> frozenset[str]:
        """A word and its possible base forms; of a phrase, the base forms of its first word with the rest."""
        found = self._form_cache.get(phrase)
        if found is None:
            if len(self._form_cache) >= _MAX_CACHED:
                self._form_cache.clear()
            first, space, rest = phrase.partition(" ")
            found = self._form_cache[phrase] = frozenset(f"{one}{space}{rest}" for one in self._bases(first))
        return found

    def fixed_terms(self, words: Sequence[str]) -> list[range]:
        """The positions of fixed terms of several words ("multiple sclerosis") among normalised words."""
        return [
            range(start, end)
            for end in range(2, len(words) + 1)
            for start in range(max(0, end - _MAX_TERM_WORDS), end - 1)
            if self.is_term(words[start:end])
        ]

    def is_term(self, words: Sequence[str]) -> bool:
        """Whether words are a fixed term; the last one may be a plural."""
        *before, last = words
        irregular = last in self._table.bases and not last.endswith(("ed", "ing"))  # a film starring him
        singulars = self.base_forms(last) if irregular or last.endswith("s") else (last,)
        return any(" ".join(before) in self._table.terms.get(one, ()) for one in singulars)

    def synsets(self, phrase: str) -> set[int]:
        """The indices of the synsets that a phrase may belong to."""
        return self._synsets(self.base_forms(phrase.lower()))

    def antonyms(self, word: str) -> set[str]:
        return {other for form in self.base_forms(word.lower()) for other in self._table.antonyms.get(form, ())}

    def coordinate_terms(self, word: str) -> set[str]:
        """Words with a common direct hypernym, in their first senses."""
        forms = self.base_forms(word.lower())
        parents = {self._table.synsets[place].parent for form in forms for place in self._table.first_senses(form)}
        return {other for parent in parents - {-1} for other in self._hyponyms.get(parent, ())} - forms

    @cached_property
    def _hyponyms(self) -> dict[int, set[str]]:
        """synset → the words directly below it in their first senses."""
        found = defaultdict(set)
        for word in self._table.senses:
            for place in self._table.first_senses(word):
                found[self._table.synsets.parents[place]].add(word)
        return found

    def have_close_senses(self, phrase: str, target: str) -> bool:
        """Whether the two may share a synset or a direct hypernym."""
        here, there = (self._hypernyms(self.synsets(text), 1) for text in (phrase, target))
        return bool(here & there)

    def _synsets(self, forms: Set[str]) -> set[int]:
        return {place for form in forms for place in self._table.senses.get(form, ())}

    def _hypernyms(self, places: Set[int], steps: int) -> set[int]:
        """Synsets and their hypernyms, at most `steps` levels up."""
        return {hypernym for place in places for hypernym in self._table.hypernyms(place, steps)}

    def _bases(self, word: str) -> Iterator[str]:
        yield word
        yield from self._table.bases.get(word, ())
        for ending, instead in INFLECTION_RULES:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                base = word.removesuffix(ending) + instead
                once = base[:-1] if base[-2:-1] == base[-1:] else base  # stopped, stop
                yield from (one for one in (base, once) if one in self._table.senses)

    def _contrasting(self, ones: Set[str], others: Set[str]) -> tuple[bool, str | None]:
        """Whether both are on the same side of a contrast, and the reason if they are on different sides of one."""
        here, there = ([cell for one in some for cell in self._contrast_cells.get(one, ())] for some in (ones, others))
        same, other = bool(set(here) & set(there)), None
        for reason, line, _ in here:
            mine = {cell for _, number, cell in here if number == line}
            its = {cell for _, number, cell in there if number == line}
            if its and not mine & its:
                other = reason
        return same, other

    def _are_opposite(self, one: str, other: str) -> bool:
        if (one, other) in NOT_OPPOSITE:
            return False
        return (
            other in self._table.antonyms.get(one, ())
            or self._differ_by_affix(one, other)
            or self._differ_by_affix(other, one)
        )

    def _differ_by_affix(self, long: str, short: str) -> bool:
        """Whether the first word is the second with a negative affix: unable, able; careless, careful."""
        if long.endswith("less") and long[:-4] and short in (long[:-4], long[:-4] + "ful", long[:-4] + "y"):
            return len(long) > 6
        if len(short) < 4 or long in NOT_NEGATED:
            return False
        if long.startswith("a") and long[1:] == short and short.endswith(FORMAL_ENDINGS):
            return True
        for prefix in NEGATIVE_PREFIXES:
            if long == prefix + short:
                return prefix in ("un", "dis", "non", "non-", "mis") or self._both_are_qualities(long, short)
        for one, other in OPPOSED_AFFIXES:
            for first, second in ((one, other), (other, one)):
                if long.startswith(first) and short.startswith(second) and long[len(first) :] == short[len(second) :]:
                    return len(long) - len(first) >= 4
        return False

    def _both_are_qualities(self, one: str, other: str) -> bool:
        if one.endswith(NOUN_ENDINGS) and other.endswith(NOUN_ENDINGS):
            return True
        kinds = [
            {self._table.synsets[place].kind for place in self._table.senses.get(word, ())} for word in (one, other)
        ]
        return all(kind & {"a", "r"} for kind in kinds) or "v" in kinds[0] & kinds[1]

    def _are_related(self, ones: Set[str], others: Set[str]) -> bool:
        """Whether they share a synset or a derivation group, or one is a near hypernym of the other."""
        table = self._table
        families = [
            {table.derivation_groups[one] for one in some if one in table.derivation_groups} for some in (ones, others)
        ]
        if families[0] & families[1]:
            return True
        here, there = self._synsets(ones), self._synsets(others)
        up, down = self._hypernyms(here, _HYPERNYM_STEPS), self._hypernyms(there, _HYPERNYM_STEPS)
        return bool(up & there or down & here)

    def _have_opposite_heads(self, ones: Set[str], others: Set[str]) -> bool:
        """Whether two adjectives, in first senses, belong to clusters whose head adjectives are antonyms."""
        here, there = (
            {word for one in some for place in self._table.first_senses(one) for word in self._head_adjectives(place)}
            for some in (ones, others)
        )
        return any(self._table.antonyms.get(word, set()) & there for word in here)

    def _head_adjectives(self, place: int) -> tuple[str, ...]:
        kind, depth, parent, words = self._table.synsets[place]
        if kind != "a":
            return ()
        return self._table.synsets[parent].words if depth else words

    def _are_indirect_opposites(self, ones: Set[str], others: Set[str]) -> bool:
        """Whether one is an antonym of a synonym of the other, or derived from such an antonym: rapidly, slow."""
        table = self._table

        def antonyms(some: Set[str]) -> set[str]:
            places = (place for one in some for place in table.first_senses(one))
            return {
                far for place in places for word in table.synsets[place].words for far in table.antonyms.get(word, ())
            }

        for here, there in ((ones, others), (others, ones)):
            far = antonyms(here)
            families = {table.derivation_groups[word] for word in far if word in table.derivation_groups}
            if far & there or any(table.derivation_groups.get(word) in families for word in there):
                return True
        return False

    def _are_coordinate(self, one: str, other: str) -> bool:
        """Whether two nouns have the same direct hypernym and the second is not a general word."""
        table = self._table

        def parents(word: str) -> set[int]:
            singular = [
                base for base in self.base_forms(word) if base == word or word.endswith("s") or base.endswith("man")
            ]
            places = [place for base in singular for place in table.first_senses(base)]
            return {table.synsets[place].parent for place in places if self._is_concrete(place)}

        return bool(parents(one) & parents(other)) and not self._is_general(other)

    def _is_concrete(self, place: int) -> bool:
        """Whether coordinate terms of a synset are different things, unlike near-synonyms such as acts and ideas."""
        kind, depth, *_ = self._table.synsets[place]
        if kind != "n" or depth <= _MIN_PARENT_DEPTH:
            return False
        hypernyms = self._table.hypernyms(place, MAX_DEPTH)
        return any(not CONCRETE_KINDS.isdisjoint(self._table.synsets[one].words) for one in hypernyms)

    def _is_general(self, word: str) -> bool:
        places = (place for base in self.base_forms(word) for place in self._table.first_senses(base))
        return any(self._hyponym_count(place) >= _MANY_HYPONYMS for place in places)

    def _hyponym_count(self, place: int) -> int:
        """The number of synsets below one, counted up to _MANY_HYPONYMS."""
        depth = self._table.synsets[place].depth
        for more in range(1, _MANY_HYPONYMS + 1):
            if place + more >= len(self._table.synsets) or self._table.synsets[place + more].depth <= depth:
                return more - 1
        return _MANY_HYPONYMS


def _index_contrasts() -> dict[str, list[tuple[str, int, int]]]:
    """phrase → (reason, contrast, side) of each contrast it is part of."""
    found = defaultdict(list)
    lines = ((reason, line) for reason, text in CONTRASTS.items() for line in text.split(";"))
    for number, (reason, line) in enumerate(lines):
        for cell, phrases in enumerate(line.split("|")):
            for phrase in phrases.split():
                found[phrase.replace("_", " ")].append((reason, number, cell))
    return dict(found)


def _negated(phrase: str, target: str, ones: Set[str], others: Set[str]) -> str | None:
    """The reason if only one side has a negation and the other none in its meaning (lacks, does not have)."""
    here, there = (
        any(is_negation(word) and word not in PARTIAL_NEGATIONS for word in text.split()) for text in (phrase, target)
    )
    if ones & DENIALS and not there and not any(_is_negative(word) for text in others for word in text.split()):
        return "removes a negation"
    if here == there:
        return None
    plain = ones if there else others
    hidden = any(_is_negative(word) for text in plain for word in text.split())
    return None if hidden else "adds a negation" if there else "removes a negation"


def _is_negative(word: str) -> bool:
    if word in NOT_NEGATED:
        return False
    return word in NEGATIVE_WORDS or word.endswith("less") or word.startswith(NEGATIVE_PREFIXES)


def _strip_common(phrase: str, target: str) -> tuple[str, str]:
    """Both without their common first and last words: unable to, able to → unable, able."""
    one, other = phrase.split(), target.split()
    while len(one) > 1 and len(other) > 1 and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    while len(one) > 1 and len(other) > 1 and one[0] == other[0]:
        one, other = one[1:], other[1:]
    return " ".join(one), " ".join(other)


def _looks_alike(one: str, other: str, ones: Set[str], others: Set[str]) -> bool:
    """Whether two words are close in spelling without being forms or spelling variants of each other."""
    if min(len(one), len(other)) < _MIN_LOOK_ALIKE or not (one.isalpha() and other.isalpha()):
        return False
    spellings, other_spellings = ({_normalise_spelling(word) for word in some} for some in (ones, others))
    if spellings & other_spellings or _derived(one, other):
        return False
    return any(
        _edit_distance(here, there) <= min(_MAX_DISTANCE, _MAX_DISTANCE_RATIO * max(len(here), len(there)))
        for here in ones for there in others if min(len(here), len(there)) >= _MIN_LOOK_ALIKE
    )  # fmt: skip


def _derived(one: str, other: str) -> bool:
    """Whether two words share a stem with different endings, or differ by a neutral prefix."""
    stem = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if stem >= _MIN_STEM and one[stem:] in DERIVATIONAL_SUFFIXES and other[stem:] in DERIVATIONAL_SUFFIXES:
        return True
    return any(
        one.removeprefix(prefix) in (other, f"-{other}") for prefix in NEUTRAL_PREFIXES if one.startswith(prefix)
    )


@lru_cache(65_536)
def same_spelling(phrase: str, target: str) -> bool:
    """Whether two phrases differ at most in British and American spelling."""
    return _normalise_spelling(phrase.lower()) == _normalise_spelling(target.lower())


def _normalise_spelling(word: str) -> str:
    word = "".join(letter for letter in normalize("NFD", word) if not combining(letter))
    for british, american in SPELLING_VARIANTS:
        word = word.replace(british, american)
    return word


def _edit_distance(one: str, other: str) -> int:
    """Levenshtein distance."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for at, its in enumerate(other, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != its))
    return row[-1]
