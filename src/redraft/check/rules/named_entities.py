"""Rule: names, that is capitalised words that the other text does not have in any form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from unicodedata import combining, normalize

from redraft.check.rules.dates import is_date
from redraft.check.rules.number_words import parts_of, value_at
from redraft.check.rules.numbers import ORDINALS, ROMAN, implied_numbers
from redraft.check.rules.phrase_tables import word_set
from redraft.check.rules.rule_types import Finding, Side, difference
from redraft.check.rules.unit_names import CURRENCIES
from redraft.plan.target_guard import TargetGuard, same_spelling
from redraft.text.function_words import is_content
from redraft.text.words import split_words

_NO_NAMES = word_set(
    "mr mrs ms miss dr prof professor sir st saint jr sr inc ltd corp co plc rev hon celsius fahrenheit"
)
_NO_PRONOUNS = frozenset({"WHO", "US", "IT"})
_DOTTED = re.compile(r"\b(?:[A-Z]\.){2,}")
_SHORT_NAME = 4  # letters: shorter words at the start of a sentence do not count as names
# Countries and their people: each row counts as one name.
_PEOPLES_TEXT = """
america american us usa united states; britain british briton uk united kingdom; england english; scotland scottish
scot; wales welsh; ireland irish; france french; spain spanish spaniard; germany german; italy italian; greece greek;
netherlands dutch holland; belgium belgian; denmark danish dane; sweden swedish swede; norway norwegian; finland finnish
finn; iceland icelandic; poland polish pole; portugal portuguese; switzerland swiss; turkey turkish turk; russia
russian; ukraine ukrainian; china chinese; japan japanese; thailand thai; philippines filipino philippine; vietnam
vietnamese; israel israeli; iraq iraqi; iran iranian; pakistan pakistani; afghanistan afghan; lebanon lebanese; canada
canadian; mexico mexican; brazil brazilian; argentina argentine argentinian; peru peruvian; cuba cuban; europe european;
africa african; asia asian; australia australian; rome roman; athens athenian; egypt egyptian; czech czechia; hungary
hungarian; austria austrian; romania romanian; bulgaria bulgarian; croatia croatian; serbia serbian serb; korea korean;
india indian; indonesia indonesian; kenya kenyan; nigeria nigerian; ghana ghanaian; chile chilean; colombia colombian
"""
_PEOPLES_AND_COMMON = word_set("polish turkey pole united states us chile thai")
_PEOPLES = tuple(word_set(row) for row in _PEOPLES_TEXT.split(";"))


def names(one: Side, two: Side, guard: TargetGuard) -> Iterator[Finding]:
    """Names that the other text does not have in any form."""
    yield from difference("name", _missing_names(one, two, guard), _missing_names(two, one, guard), by_side=True)


def _missing_names(side: Side, other: Side, guard: TargetGuard) -> list[str]:
    here, there = _bare_words(side.text), _bare_words(other.text)
    known = {word.lower() for word in there}
    known.update(word.lower() for short in there if short.isupper() for word in _spelled_out(short, here))
    known.update(short.lower() for short in here if short.isupper() and _spelled_out(short, there))
    numbers = {number.value for number in other.numbers} | {*implied_numbers(other)}
    return [
        name for name in _names_of(side, guard)
        if ROMAN.get(name) not in numbers and not all(_is_known(word, known) for word in _bare_words(name))
    ]  # fmt: skip


def _names_of(side: Side, guard: TargetGuard) -> Iterator[str]:
    """Capitalised content words; at the start of a sentence, only those that are not common words."""
    for at, (word, plain) in enumerate(zip(side.words, side.plain, strict=True)):
        if side.text.isupper() or not word.text[0].isupper() or not (is_content(plain) or word.text in _NO_PRONOUNS):
            continue
        beside = side.plain[max(0, at - 1) : at + 2]
        is_initial = len(plain) == 1 and ("." in beside or "°" in beside)
        is_number = plain in ORDINALS or value_at(parts_of(plain), 0)[0] is not None
        may_be_common = side.starts_sentence(at) and _may_be_common(plain, guard)
        is_currency = beside[-1] in CURRENCIES  # US$5
        if not (is_currency or is_initial or is_number or may_be_common or plain in _NO_NAMES or is_date(side, at)):
            yield word.text


def _may_be_common(plain: str, guard: TargetGuard) -> bool:
    """Whether a word at the start of a sentence may be a common word."""
    if any(plain in row for row in _PEOPLES):
        return plain in _PEOPLES_AND_COMMON
    return len(plain) < _SHORT_NAME or plain.endswith("ly") or any(map(guard.synsets, plain.split("-")))


def _bare_words(text: str) -> list[str]:
    """Words normalised for comparison: without accents, hyphens, and the dots of U.S."""
    text = _DOTTED.sub(lambda dotted: dotted.group().replace(".", "") + " ", text)
    text = "".join(letter for letter in normalize("NFD", text) if not combining(letter))
    return [part for word in split_words(text) for part in word.text.split("-") if part[:1].isalnum()]


def _spelled_out(short: str, words: Sequence[str]) -> list[str]:
    """The words that an abbreviation stands for, ignoring function words between them."""
    content = [word for word in words if is_content(word) and word != short]
    for at in range(len(content) - len(short) + 1 if len(short) > 1 else 0):
        run = content[at : at + len(short)]
        if "".join(word[0] for word in run).lower() == short.lower():
            return run
    return []


def _is_known(name: str, known: Set[str]) -> bool:
    """Whether a name is known: itself, its plural, another spelling, or the people of that country."""
    name = name.lower()
    forms = {name, name.removesuffix("s"), f"{name}s"}
    if forms & known or any(word[:2] == name[:2] and same_spelling(name, word) for word in known):
        return True
    singular = known | {word.removesuffix("s") for word in known}
    return any(row & forms and row & singular for row in _PEOPLES)
