"""English inflection: "a" or "an", parts of speech, and inflecting a target like the phrase it replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from redraft.text.function_words import is_content


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INITIALISM = re.compile(r"[A-Z](?:[A-Z]{1,2}|[B-DF-HJ-NP-TV-Z]+)?s?(?![A-Za-z])")  # MRI, FBI, HTML; but not NASA
_ACRONYMS = _word_set("SIM PIN RAM ROM LAN CAT RAT DOS GIF BIN VAT LOL ZIP WAN MAN MAC")  # read as words
_VOWEL_LETTERS = "AEFHILMNORSX"  # letters whose names start with a vowel sound
_NUMBER_AFTER_AN = re.compile(r"8|1[18](?!\d)|1[18]\d\d(?!\d)|1[18],")
_AFTER_AN = re.compile(r"hour|honest|honou?r|heir(?!archy)|[fhlmnrsx](?:-|$)|[aeiouà-æè-ïò-öøù-ü]")
_NOT_AFTER_AN = re.compile(
    r"eu|ew|onc?e(?![a-z])|oneself|ouija|u(?:-|$|ni(?!n|m[pa]|dent)|nanim|s[aeu]|sin|t[eio]|r[aiou]|k[ru]|biq|fo|vu|gan|nes)"
)

Inflection = Literal["VBD", "VBN", "VBG", "VBZ", "NNS"]
_VERB_FORMS: tuple[Inflection, ...] = ("VBD", "VBN", "VBG", "VBZ")
_MODALS = _word_set("can could may might must shall should will would ought used")
_BE = _word_set("am is are was were be been being 's 're 'm get gets got getting")
_HAVE = _word_set("have has had having 've 'd")
_DETERMINERS = _word_set("a an the this that these those each every some any no its his her their our my your")
_BEFORE_PARTICIPLE = _word_set("not 't never also already always ever just still since only often soon then been")
_QUANTITIES = frozenset({"many", "several", "few", "more", "most"})
_BEFORE_SO = frozenset({"", ",", ";", ":", "and"})
_BEFORE_NOT = frozenset({"is", "are", "was", "were", "be", "been", "am", "being", "seems", "became", "become"})
_SUBJECTS = _word_set("i he she it we they you who")
_PLURAL_SUBJECTS = _word_set("we they you these those both")
_AFTER_NOUN = _word_set("of for in with at on to from by who that which where")
_PREPOSITIONS = _word_set("of for in with at on from by without under")
_LIGHT_VERBS = _word_set("be bring carry come do get give go have hold keep let make put run set take turn")
_UNCOUNTABLE = _word_set("""
    people police cattle staff folk money cash pay work food meat fruit help harm damage care aid support advice
    information news data evidence proof knowledge research progress growth luck weather traffic travel land water air
    oil gas energy power electricity equipment gear stuff clothing furniture luggage baggage rubbish garbage trash waste
    software hardware music art love hate fear anger happiness fun health strength education teaching training learning
    housing shopping wealth poverty crime violence peace trouble rain snow fish sheep deer aircraft
""")


def indefinite_article(word: str) -> str:
    """The indefinite article before a word or phrase, by its sound: an hour, a university, an MRI, an 80."""
    initialism = _INITIALISM.match(word)
    if initialism and initialism.group().rstrip("s") not in _ACRONYMS:
        return "an" if word[0] in _VOWEL_LETTERS else "a"
    if word[:1].isdigit():
        return "an" if _NUMBER_AFTER_AN.match(word) else "a"
    word = word.lower()
    return "an" if _AFTER_AN.match(word) and not _NOT_AFTER_AN.match(word) else "a"


def may_share_part_of_speech(word: str, target: str, before: str = "") -> bool:
    """Whether a target can have the part of speech of a word: "permission" cannot replace "consent" in "you consent".

    `before` is the previous word in lower case. True for phrases and for words that are not in the dictionary.
    """
    word_tags, target_tags = _parts_of_speech(word), _parts_of_speech(target)
    if before in _SUBJECTS | _MODALS | {"to", "not"} and "VERB" in word_tags:
        word_tags = frozenset({"VERB"})
    elif before in _DETERMINERS | _PREPOSITIONS and "NOUN" in word_tags:
        word_tags -= {"VERB"}
    return not word_tags or not target_tags or bool(word_tags & target_tags)


def may_follow(target: str, before: str) -> bool:
    """Whether a target can follow a word: "so it rained", not "it so rained"; "is not available", not "a not
    available item"."""
    if target == "so":
        return before in _BEFORE_SO
    return not target.startswith("not ") or before in _BEFORE_NOT


@lru_cache(4096)
def _parts_of_speech(word: str) -> frozenset[str]:
    if not word.isalpha():
        return frozenset()
    found = set(lemmas_of(word.lower()))
    if "VERB" in found and word.lower().endswith(("ed", "ing", "en")):
        found.add("ADJ")  # participles
    if word.lower() in _QUANTITIES:
        found.add("ADJ")  # nouns in the dictionary
    return frozenset(found & {"NOUN", "VERB", "ADJ", "ADV"})


def inflect_like(phrase: str, target: str, before: Sequence[str] = (), after: str = "") -> str:
    """The target with the inflection of the phrase: "buy" for "purchased" becomes "bought".

    Unchanged unless the target is a base form and the phrase is clearly inflected. `before` has the words before the
    phrase and `after` is the word after it, all in lower case.
    """
    tags = dict(_phrase_inflections(phrase))
    if before and {"VBZ", "NNS"} <= tags.keys():  # "he claims", "the claims"
        if before[-1] in _SUBJECTS:
            del tags["NNS"]
        elif not is_content(before[-1]):
            del tags["VBZ"]
    forms = (
        _inflected(target, _disambiguate(tag, before, after), not_adjective, before)
        for tag, not_adjective in tags.items()
    )
    found = {form for form in forms if form is not None and form.casefold() != phrase.casefold()}
    return found.pop() if len(found) == 1 else target


def _phrase_inflections(phrase: str) -> Iterator[tuple[Inflection, bool]]:
    """The possible inflections of a phrase's head, each with whether the head cannot be an adjective."""
    words = phrase.split()
    if words and _starts_with_verb(words):
        yield from (found for found in _word_inflections(words[0]) if found[0] != "NNS")
    if words:
        yield from (
            (tag, not_adjective) for tag, not_adjective in _word_inflections(words[_head_noun(words)]) if tag == "NNS"
        )


@lru_cache(4096)
def _word_inflections(word: str) -> tuple[tuple[Inflection, bool], ...]:
    """All inflections that a word may have; none if it may also be a base form."""
    if not word.islower() or not word.isalpha():
        return ()
    lemmas = lemmas_of(word)
    if word in lemmas.get("VERB", ()) or word in lemmas.get("NOUN", ()):
        return ()
    not_adjective = word not in lemmas.get("ADJ", ())
    tags: list[Inflection] = [
        tag for tag in _VERB_FORMS if any(word in _forms(one, tag) for one in lemmas.get("VERB", ()))
    ]
    if "VBD" in tags and "VBN" in tags:
        tags.remove("VBN")  # decided by the context
    if any(word in _forms(one, "NNS") for one in lemmas.get("NOUN", ())):
        tags.append("NNS")
    return tuple((tag, not_adjective) for tag in tags)


def _disambiguate(tag: Inflection, before: Sequence[str], after: str) -> Inflection:
    return "VBN" if tag == "VBD" and (after == "by" or _auxiliary(before) is not None) else tag


def _auxiliary(before: Sequence[str]) -> str | None:
    """The form of "have" or "be", or the determiner, that makes the next word a participle."""
    for word in reversed(before[-4:]):
        if word in _BE | _HAVE | _DETERMINERS:
            return word
        if word not in _BEFORE_PARTICIPLE | _SUBJECTS and not word.endswith("ly"):
            return None
    return None


def _inflected(target: str, tag: Inflection, not_adjective: bool, before: Sequence[str]) -> str | None:
    """The target with its head inflected, or unchanged if uncountable; None if it cannot take this inflection."""
    words = target.split(" ")
    if not all(words):
        return None
    at = _head_noun(words) if tag == "NNS" else 0
    head = words[at]
    lemmas = lemmas_of(head)
    if not head.islower() or not head.isalpha() or head in _MODALS:
        return None
    if tag == "NNS":
        if lemmas.get("NOUN") != (head,) or words[0] in _DETERMINERS or not is_content(head):
            return None
        if head in _UNCOUNTABLE:
            return target
    else:
        adjective = head in lemmas.get("ADJ", ())
        if lemmas.get("VERB") != (head,) or not _starts_with_verb(words):
            return None
        if adjective and (not not_adjective or _auxiliary(before) in _BE | _DETERMINERS):  # "was completed": "was full"
            return None
    forms = _forms(head, tag)
    if not forms:
        return None
    plural = head == "be" and tag == "VBD" and before and before[-1] in _PLURAL_SUBJECTS
    return " ".join([*words[:at], forms[-1 if plural else 0], *words[at + 1 :]])


def _starts_with_verb(words: Sequence[str]) -> bool:
    """Whether the first word of a phrase carries its inflection: a single verb, "carry out", "get rid of"."""
    first, *rest = words
    if not rest:
        return True
    is_light = first in _LIGHT_VERBS or not _LIGHT_VERBS.isdisjoint(lemmas_of(first).get("VERB", ()))
    only_verb = set(lemmas_of(first)) == {"VERB"}
    return is_content(first) and (is_light or only_verb or not is_content(rest[0]))


def _head_noun(words: Sequence[str]) -> int:
    """The index of the head of a noun phrase: before its first preposition, or the last word."""
    return next((at - 1 for at, word in enumerate(words) if at and word in _AFTER_NOUN), len(words) - 1)


@lru_cache(4096)
def lemmas_of(word: str) -> dict[str, tuple[str, ...]]:
    """The dictionary forms of a word, by part of speech."""
    from lemminflect import getAllLemmas  # takes 0.3 s to import, so only when needed

    found: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return found


@lru_cache(4096)
def _forms(lemma: str, tag: Inflection) -> tuple[str, ...]:
    from lemminflect import getAllInflections

    found: dict[str, tuple[str, ...]] = getAllInflections(lemma, upos="NOUN" if tag == "NNS" else "VERB")
    return found.get(tag) or (found.get("VBD", ()) if tag == "VBN" else ())
