"""Small grammar of English: "a" or "an", and a word in the form of the one whose place it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from redraft.text.function_words import is_content


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SPELLED = re.compile(r"[A-Z](?:[A-Z]{1,2}|[B-DF-HJ-NP-TV-Z]+)?s?(?![A-Za-z])")  # MRI, FBI, HTML; but not NASA
_READ = _words("SIM PIN RAM ROM LAN CAT RAT DOS GIF BIN VAT LOL ZIP WAN MAN MAC")  # short, and still words
_VOWEL_LETTERS = "AEFHILMNORSX"  # in their names
_AN_NUMBER = re.compile(r"8|1[18](?!\d)|1[18]\d\d(?!\d)|1[18],")
_AN = re.compile(r"hour|honest|honou?r|heir(?!archy)|[fhlmnrsx](?:-|$)|[aeiouà-æè-ïò-öøù-ü]")
_A = re.compile(
    r"eu|ew|onc?e(?![a-z])|oneself|ouija|u(?:-|$|ni(?!n|m[pa]|dent)|nanim|s[aeu]|sin|t[eio]|r[aiou]|k[ru]|biq|fo|vu|gan|nes)"
)

Inflection = Literal["VBD", "VBN", "VBG", "VBZ", "NNS"]
_VERB_FORMS: tuple[Inflection, ...] = ("VBD", "VBN", "VBG", "VBZ")
_MODALS = _words("can could may might must shall should will would ought used")
_BE = _words("am is are was were be been being 's 're 'm get gets got getting")
_HAVE = _words("have has had having 've 'd")
_DETERMINERS = _words("a an the this that these those each every some any no its his her their our my your")
_BETWEEN = _words("not 't never also already always ever just still since only often soon then been")
_QUANTITIES = frozenset({"many", "several", "few", "more", "most"})
_BEFORE_SO = frozenset({"", ",", ";", ":", "and"})
_BEFORE_NOT = frozenset({"is", "are", "was", "were", "be", "been", "am", "being", "seems", "became", "become"})
_SUBJECTS = _words("i he she it we they you who")
_PLURAL_SUBJECTS = _words("we they you these those both")
_AFTER_NOUN = _words("of for in with at on to from by who that which where")
_PREPOSITIONS = _words("of for in with at on from by without under")
_LIGHT = _words("be bring carry come do get give go have hold keep let make put run set take turn")
_UNCOUNTED = _words("""
    people police cattle staff folk money cash pay work food meat fruit help harm damage care aid support advice
    information news data evidence proof knowledge research progress growth luck weather traffic travel land water air
    oil gas energy power electricity equipment gear stuff clothing furniture luggage baggage rubbish garbage trash waste
    software hardware music art love hate fear anger happiness fun health strength education teaching training learning
    housing shopping wealth poverty crime violence peace trouble rain snow fish sheep deer aircraft
""")


def article_before(word: str) -> str:
    """Which article stands before a word or phrase, by how it sounds: an hour, a university, an MRI, an 80."""
    spelled = _SPELLED.match(word)
    if spelled and spelled.group().rstrip("s") not in _READ:
        return "an" if word[0] in _VOWEL_LETTERS else "a"
    if word[:1].isdigit():
        return "an" if _AN_NUMBER.match(word) else "a"
    word = word.lower()
    return "an" if _AN.match(word) and not _A.match(word) else "a"


def may_stand_for(word: str, target: str, before: str = "") -> bool:
    """Whether a target can be the part of speech that a word is: "permission" cannot in "you consent".

    `before` is the word before it, in small letters. Words that the dictionary does not have, and phrases, may.
    """
    own, other = _parts_of_speech(word), _parts_of_speech(target)
    if before in _SUBJECTS | _MODALS | {"to", "not"} and "VERB" in own:
        own = frozenset({"VERB"})
    elif before in _DETERMINERS | _PREPOSITIONS and "NOUN" in own:
        own -= {"VERB"}
    return not own or not other or bool(own & other)


def may_follow(target: str, before: str) -> bool:
    """Whether a target can stand behind a word: "so it rained", not "it so rained"; "is not available", not "a not
    available item"."""
    if target == "so":
        return before in _BEFORE_SO
    return not target.startswith("not ") or before in _BEFORE_NOT


@lru_cache(4096)
def _parts_of_speech(word: str) -> frozenset[str]:
    if not word.isalpha():
        return frozenset()
    found = set(_lemmas(word.lower()))
    if "VERB" in found and word.lower().endswith(("ed", "ing", "en")):
        found.add("ADJ")  # participles
    if word.lower() in _QUANTITIES:
        found.add("ADJ")  # the dictionary has them as nouns
    return frozenset(found & {"NOUN", "VERB", "ADJ", "ADV"})


def in_form_of(phrase: str, target: str, before: Sequence[str] = (), after: str = "") -> str:
    """The target in the form of the phrase: "buy" for "purchased" is "bought".

    As it is given, unless it is a base form and the phrase is clearly none. `before` and `after` are the words around
    the phrase, in small letters, the nearest last and first.
    """
    tags = dict(_tags(phrase))
    if before and {"VBZ", "NNS"} <= tags.keys():  # "he claims", "the claims"
        if before[-1] in _SUBJECTS:
            del tags["NNS"]
        elif not is_content(before[-1]):
            del tags["VBZ"]
    forms = (_inflected(target, _by_context(tag, before, after), surely, before) for tag, surely in tags.items())
    found = {form for form in forms if form is not None and form.casefold() != phrase.casefold()}
    return found.pop() if len(found) == 1 else target


def _tags(phrase: str) -> Iterator[tuple[Inflection, bool]]:
    """The inflections of a phrase's head, and whether it is surely no adjective."""
    words = phrase.split()
    if words and _begins_with_verb(words):
        yield from ((tag, surely) for tag, surely in _readings(words[0]) if tag != "NNS")
    if words:
        yield from ((tag, surely) for tag, surely in _readings(words[_noun(words)]) if tag == "NNS")


@lru_cache(4096)
def _readings(word: str) -> tuple[tuple[Inflection, bool], ...]:
    """All inflections that a word may be; none where it may be a base form as well."""
    if not word.islower() or not word.isalpha():
        return ()
    lemmas = _lemmas(word)
    if word in lemmas.get("VERB", ()) or word in lemmas.get("NOUN", ()):
        return ()
    surely = word not in lemmas.get("ADJ", ())
    tags: list[Inflection] = [
        tag for tag in _VERB_FORMS if any(word in _forms(one, tag) for one in lemmas.get("VERB", ()))
    ]
    if "VBD" in tags and "VBN" in tags:
        tags.remove("VBN")  # the context tells
    if any(word in _forms(one, "NNS") for one in lemmas.get("NOUN", ())):
        tags.append("NNS")
    return tuple((tag, surely) for tag in tags)


def _by_context(tag: Inflection, before: Sequence[str], after: str) -> Inflection:
    return "VBN" if tag == "VBD" and (after == "by" or _auxiliary(before) is not None) else tag


def _auxiliary(before: Sequence[str]) -> str | None:
    """The "have", "be" or determiner that makes the next word a participle."""
    for word in reversed(before[-4:]):
        if word in _BE | _HAVE | _DETERMINERS:
            return word
        if word not in _BETWEEN | _SUBJECTS and not word.endswith("ly"):
            return None
    return None


def _inflected(target: str, tag: Inflection, surely: bool, before: Sequence[str]) -> str | None:
    """The target with its head in this form, as it is where it needs none; None where it has none."""
    words = target.split(" ")
    if not all(words):
        return None
    at = _noun(words) if tag == "NNS" else 0
    head = words[at]
    lemmas = _lemmas(head)
    if not head.islower() or not head.isalpha() or head in _MODALS:
        return None
    if tag == "NNS":
        if lemmas.get("NOUN") != (head,) or words[0] in _DETERMINERS or not is_content(head):
            return None
        if head in _UNCOUNTED:
            return target
    else:
        adjective = head in lemmas.get("ADJ", ())
        if lemmas.get("VERB") != (head,) or not _begins_with_verb(words):
            return None
        if adjective and (not surely or _auxiliary(before) in _BE | _DETERMINERS):  # "was completed": "was full"
            return None
    forms = _forms(head, tag)
    if not forms:
        return None
    plural = head == "be" and tag == "VBD" and before and before[-1] in _PLURAL_SUBJECTS
    return " ".join([*words[:at], forms[-1 if plural else 0], *words[at + 1 :]])


def _begins_with_verb(words: Sequence[str]) -> bool:
    """Whether the first word is what a phrase's inflection shows on: a verb alone, "carry out", "get rid of"."""
    first, *rest = words
    if not rest:
        return True
    light = first in _LIGHT or not _LIGHT.isdisjoint(_lemmas(first).get("VERB", ()))
    only = set(_lemmas(first)) == {"VERB"}
    return is_content(first) and (light or only or not is_content(rest[0]))


def _noun(words: Sequence[str]) -> int:
    """Where the head of a noun phrase stands: before its first preposition, or at the end."""
    return next((at - 1 for at, word in enumerate(words) if at and word in _AFTER_NOUN), len(words) - 1)


@lru_cache(4096)
def _lemmas(word: str) -> dict[str, tuple[str, ...]]:
    from lemminflect import getAllLemmas  # 0.3 s to import, so only when asked for

    found: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return found


@lru_cache(4096)
def _forms(lemma: str, tag: Inflection) -> tuple[str, ...]:
    from lemminflect import getAllInflections

    found: dict[str, tuple[str, ...]] = getAllInflections(lemma, upos="NOUN" if tag == "NNS" else "VERB")
    return found.get(tag) or (found.get("VBD", ()) if tag == "VBN" else ())
