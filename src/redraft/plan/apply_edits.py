"""Applies a plan to its source in place, without a model; adjusts only grammar and punctuation around the edits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import occurrences
from redraft.text.inflection import indefinite_article, inflect_like
from redraft.text.protected_spans import Span, is_address, overlaps
from redraft.text.words import split_words

_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "‘": "’", "«": "»", "„": "“"}
_BALANCED = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}
_OPENING = "([{“‘«„"
_ENDING = ".!?…"
_CLOSING = ",;:.!?…)]}”»"
_CONJUNCTION = re.compile(r"(?<![\w'’-])(?:and|or|nor|but|&)\s*$", re.IGNORECASE)
_NEXT_CONJUNCTION = re.compile(r"\s*(?:and|or|nor)\s+(?=\w)", re.IGNORECASE)
_LEADS = re.compile(r"(?<![\w'’-])(?:the|an?|of|in|on|with|by|for|from|at|its|his|her|their|our|my|your)\s*$", re.I)
_ARTICLE = re.compile(r"(?<![\w'’.-])(an?|the)\s+$", re.IGNORECASE)
_NEXT_DETERMINER = re.compile(r"\s*(?:the|an?|this|that|these|those|its|his|her|their|our|my|your)\s", re.I)
_ARTICLE_BEFORE = re.compile(r"(?<![\w'’.-])(an?)\s+[\"“‘'(\[]*$", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[\s\"“‘'(\[]*([^\W_][\w,’'-]*)")
_SHORTENED = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|vs|Jr|Sr|e\.g|i\.e|etc)\.\s*$")
_JOINT = re.compile(r"[\s,;]*|\s+(?:and|or)\s+")  # between two deletions that are merged
_ASIDE = {
    "however", "therefore", "indeed", "moreover", "furthermore", "nevertheless", "nonetheless", "consequently", "thus",
    "hence", "meanwhile", "instead", "accordingly", "additionally", "similarly", "likewise", "too", "perhaps",
    "in fact", "for example", "for instance", "of course", "in addition", "in particular", "in turn", "in general",
    "on the other hand", "as a result", "that is", "after all", "at least",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Cut:
    """A range of the source to remove, and the text that replaces it."""

    start: int
    end: int
    text: str
    deletes: bool
    capital: bool  # the text at this position starts a sentence
    lowest: int = 0  # text before this offset must not be changed


def apply_edits(plan: EditPlan) -> str:
    """The source with the edits applied in place, and articles, capitals, punctuation and spaces adjusted around them.

    A substitution writes its first target. An edit is skipped if its phrase is not in the source or overlaps an
    earlier edit. An insertion changes nothing, but later edits do not change its span. Splits are not applied.
    """
    source = plan.source
    placed = _placed(plan)
    cuts: list[_Cut] = []
    for edit, span in placed:
        if edit.kind != "insert":
            cuts += _cuts(source, edit, span)
    taken = sorted(span for _, span in placed)
    return _written(source, _tidied(source, _joined(source, cuts, taken), taken))


def _placed(plan: EditPlan) -> list[tuple[Edit, Span]]:
    """Edits with their spans in the source, in order; spans do not overlap."""
    placed: list[tuple[Edit, Span]] = []
    edits = [edit for edit in plan.edits if edit.kind != "split"]
    wanted = [edit.span for edit in edits if edit.span is not None]
    for edit in edits:
        taken = [span for _, span in placed]
        if edit.span is not None:
            place = _whole_words(plan.source, edit.span)
            free = [place] if place and not overlaps(place, taken) else []
        else:
            free = [span for span in occurrences(plan.source, edit, any_case=True) if not overlaps(span, taken)]
            free.sort(key=lambda span: overlaps(span, wanted))  # first where no other edit has its span
        if free:
            placed.append((edit, free[0]))
    return sorted(placed, key=lambda one: one[1])


def _whole_words(source: str, span: Span) -> Span | None:
    """The span extended to whole words; None if it touches no word or cuts a number."""
    words = [word for word in split_words(source) if word.start < span[1] and span[0] < word.end]
    if not words:
        return None
    for word in (words[0], words[-1]):
        cut = word.start < span[0] or span[1] < word.end
        if cut and any(map(str.isdigit, word.text)):
            return None
    return words[0].start, words[-1].end


def _cuts(source: str, edit: Edit, span: Span) -> Iterator[_Cut]:
    """The cuts of one edit: its span, without unpaired brackets and quotation marks."""
    target = edit.targets[0] if edit.targets else ""
    parts = _balanced(source, span, target)
    for number, (start, end) in enumerate(parts):
        capital = source[start].isupper() and _begins_sentence(source, start)
        if number or not target:
            yield _Cut(start, end, "", True, capital)
            continue
        text = _fitted(source, (start, end), target, capital)
        if text.endswith(".") and source.startswith(".", end) and not source.startswith("..", end):
            end += 1
        text = f"{' ' * source[start - 1 : start].isalnum()}{text}{' ' * source[end : end + 1].isalnum()}"
        before = _ARTICLE.search(source, 0, start)
        if before and _same_article(before.group(1), text):  # "a" and "a lot of"
            start = before.start()
            capital = source[start].isupper() and _begins_sentence(source, start)
        yield _Cut(start, end, text, False, capital)


def _same_article(one: str, text: str) -> bool:
    first = text.split(" ")[0].lower()
    return " " in text and ({one.lower(), first} <= {"a", "an"} or one.lower() == first == "the")


def _balanced(source: str, span: Span, target: str) -> list[Span]:
    """The span, split at brackets and quotation marks whose counterpart is outside the span."""
    kept = _unpaired(source, span) - _unpaired(source, (0, len(source)))
    if not kept or any(sign in target for sign in '()[]{}“”«»"'):
        return [span]
    edges = [span[0] - 1, *sorted(kept), span[1]]
    parts = [(start + 1, end) for start, end in pairwise(edges)]
    found = [place for part in parts if (place := _whole_words(source, part))]
    return [place for place in found if any(map(str.isalnum, source[slice(*place)]))] or [span]


def _unpaired(source: str, span: Span) -> set[int]:
    closing = {close: opening for opening, close in _BALANCED.items()}
    waiting: list[int] = []
    alone, quotes = set(), []
    for at in range(*span):
        sign = source[at]
        if sign in _BALANCED:
            waiting.append(at)
        elif sign in closing:
            if waiting and source[waiting[-1]] == closing[sign]:
                waiting.pop()
            else:
                alone.add(at)
        elif sign == '"':
            quotes.append(at)
    if len(quotes) % 2:
        alone.add(quotes[0] if quotes[0] == span[0] else quotes[-1])
    return alone.union(waiting)


def _fitted(source: str, span: Span, target: str, capital: bool) -> str:
    """The target with the inflection and the capital that its position requires."""
    phrase = source[slice(*span)]
    before = [word.text.lower().replace("’", "'") for word in split_words(source[: span[0]][-80:])]
    after = next((word.text.lower() for word in split_words(source[span[1] : span[1] + 40])), "")
    if capital:
        phrase = phrase[:1].lower() + phrase[1:]
        if target[1:2].islower():  # capitalised because of its position
            lowered = target[:1].lower() + target[1:]
            text = inflect_like(phrase, lowered, before, after)
            return target if text == lowered else text
    return inflect_like(phrase, target, before, after)


def _begins_sentence(text: str, at: int) -> bool:
    """Whether a sentence or a quotation starts here, ignoring brackets and quotation marks before it."""
    before = text[:at]
    bare = before.rstrip(_OPENING + "\"'*_# ")
    sign = bare.rstrip("”’»)]")[-1:]
    if not bare or bare[-1] in "\n:" or (sign and sign in _ENDING and not _SHORTENED.search(bare)):
        return True
    return before[-1] in '“«„"'


def _joined(source: str, cuts: Sequence[_Cut], taken: Sequence[Span]) -> list[_Cut]:
    """Merges deletions that are separated only by punctuation, "and" or "or"."""
    joined: list[_Cut] = []
    for cut in cuts:
        last = joined[-1] if joined else None
        if last and last.deletes and cut.deletes and _joins(source, last.end, cut.start, taken):
            joined[-1] = replace(last, end=cut.end)
        else:
            joined.append(cut)
    return joined


def _joins(source: str, start: int, end: int, taken: Sequence[Span]) -> bool:
    return bool(_JOINT.fullmatch(source, start, end)) and not any(start <= place < end for place, _ in taken)


def _tidied(source: str, cuts: Sequence[_Cut], taken: Sequence[Span]) -> list[_Cut]:
    """Extends deletions to the punctuation, conjunctions and spaces that they make superfluous."""
    tidied: list[_Cut] = []
    for cut in cuts:
        cut = _tidied_one(source, cut, tidied, taken)
        while cut.deletes and tidied and tidied[-1].deletes and tidied[-1].end == cut.start:
            last = tidied.pop()  # nothing is left between the two
            cut = replace(last, end=cut.end, text=last.text or cut.text)
            cut = _tidied_one(source, cut, tidied, taken)
        tidied.append(cut)
    return tidied


def _tidied_one(source: str, cut: _Cut, tidied: Sequence[_Cut], taken: Sequence[Span]) -> _Cut:
    """One cut, extended within the limits of the spans of other edits."""
    lowest = max([0, *(last.end for last in tidied[-1:]), *(end for _, end in taken if end <= cut.start)])
    if not cut.deletes:
        return replace(cut, lowest=lowest)
    highest = min((start for start, _ in taken if start >= cut.end), default=len(source))
    gap = _Gap(source, cut, lowest, highest)
    gap.tidy()
    first = source[gap.start : gap.end].lstrip()[:1]
    capital = (cut.capital or first.isupper()) and _begins_sentence(source, gap.start)
    return _Cut(gap.start, gap.end, gap.text, True, capital, lowest)


class _Gap:
    """The gap that a deletion leaves between the text on its left and right, widened step by step."""

    def __init__(self, source: str, cut: _Cut, lowest: int, highest: int) -> None:
        self.source, self.lowest, self.highest = source, lowest, highest
        self.start, self.end, self.text = cut.start, cut.end, cut.text
        self.phrase = " ".join(source[cut.start : cut.end].lower().split())

    @property
    def left(self) -> str:
        return self.source[self.lowest : self.start]

    @property
    def right(self) -> str:
        return self.source[self.end : self.highest]

    @property
    def signs(self) -> tuple[str, str]:
        """The nearest characters that are not white space; "" at an end of the text or at another edit."""
        return self.left.rstrip()[-1:], self.right.lstrip()[:1]

    @property
    def opens(self) -> bool:
        """Whether the text, a sentence or a bracket begins here."""
        left = self.left.rstrip()
        if not left:
            return self.lowest == 0
        return left[-1] in _OPENING or self.quoted or (left[-1] in _ENDING and not _SHORTENED.search(left))

    @property
    def quoted(self) -> bool:
        """Whether the character on the left is an opening straight quotation mark."""
        before = self.source[: self.start].rstrip()
        return bool(self.left.rstrip()) and before.endswith('"') and before.count('"') % 2 == 1

    @property
    def ends(self) -> bool:
        return not self.right.strip() and self.highest == len(self.source)

    def drop_left(self) -> None:
        """Drop the last character on the left, and the space after it."""
        self.start = self.lowest + len(self.left.rstrip()) - 1

    def drop_right(self, spaces: bool = True) -> None:
        self.end = self.highest - len(self.right.lstrip()) + 1
        if spaces:
            self.end = self.highest - len(self.right.lstrip())

    def tidy(self) -> None:
        if any(map(str.isalnum, self.phrase)):
            self._drop_possessive()
            if (self.opens or _LEADS.search(self.left)) and (found := _NEXT_CONJUNCTION.match(self.right)):
                self.end += found.end()
            while self._drop_pair() or self._drop_sign() or self._drop_conjunction() or self._drop_article():
                pass
        self._space()

    def _drop_possessive(self) -> None:
        if re.match(r"['’]s(?!\w)", self.right) and self.phrase[-1:].isalnum():
            self.end += 2

    def _drop_pair(self) -> bool:
        """Drop brackets, quotation marks or dashes that enclose nothing."""
        left, right = self.signs
        touching = self.left[-1:] == left and self.right[:1] == right
        pair = _PAIRS.get(left) == right or (left == right == '"' and self.quoted)
        if (
            not left
            or not right
            or not (pair or (left == right and left in "–—") or (touching and left == right == "*"))
        ):
            return False
        self.drop_left()
        self.drop_right(spaces=False)
        return True

    def _drop_sign(self) -> bool:
        """Drop punctuation that would be at the start or end of a sentence, or next to other punctuation."""
        left, right = self.signs
        if self.opens:
            if right and (right in ",;:" or (right in _ENDING and not (left and left in _OPENING + '"'))):
                self.drop_right()
                return True
            return False
        if left and left in ",;:–—" and (self.ends or (right and right in ".!?…;)]}”")):
            self.drop_left()
            return True
        if left and left in ",;:" and right == ",":
            if left == ",":
                aside = self.phrase in _ASIDE
                self.drop_left()
                if aside:
                    self.drop_right(spaces=False)
            else:
                self.drop_right(spaces=False)
            return True
        if left == right == "." and self.right[:1] == ".":  # "the U.S. economy."
            self.drop_right(spaces=False)
            return True
        if left == "/" and self.left[-1:] == "/" and not self.right[:1].isalnum():
            self.drop_left()
            return True
        if self.right[:1] == "/" and not self.left[-1:].isalnum():
            self.drop_right(spaces=False)
            return True
        return False

    def _drop_conjunction(self) -> bool:
        found = _CONJUNCTION.search(self.left)
        right = self.signs[1]
        if not found or not found.start():
            return False
        if self.ends or (right and right in ",;:.!?…)]}”") or _NEXT_CONJUNCTION.match(self.right):
            self.start = self.lowest + found.start()
            return True
        return False

    def _drop_article(self) -> bool:
        """Drop an article before another determiner: "from the [edge of] the sea"."""
        found = _ARTICLE.search(self.left)
        if not found or not _NEXT_DETERMINER.match(self.right):
            return False
        self.start = self.lowest + found.start()
        return True

    def _space(self) -> None:
        """Leave one space, or none before closing and after opening punctuation."""
        left, right = self.left, self.right
        before, after = left[len(left.rstrip()) :] or self.text, right[: len(right) - len(right.lstrip())]
        sign, follower = self.signs
        closes = follower in _CLOSING if follower != '"' else self._closes_quote()
        if not sign and self.lowest == 0:
            after = ""
        elif self.ends or (follower and closes and not after):
            before = ""
        elif sign and (sign in _OPENING or self.quoted) and left[-1:] == sign:
            before = after = ""
        elif before and after:
            before, after = (before, "") if not re.search(r"[\n\t]", after) else ("", after)
        elif not before and not after and left[-1:].isalnum() and right[:1].isalnum():
            before = " "
        self.start -= len(left) - len(left.rstrip())
        self.end += len(right) - len(right.lstrip())
        self.text = before + after

    def _closes_quote(self) -> bool:
        return self.source[: self.start].count('"') % 2 == 1


def _written(source: str, cuts: Sequence[_Cut]) -> str:
    """The text with all cuts applied, and capitals and articles adjusted to it."""
    text, end, capital = "", 0, False
    starts: list[tuple[_Cut, int, int]] = []  # each cut, its start in the text, and the first offset that may change
    for cut in cuts:
        kept, capital = _capitalised(source[end : cut.start], capital)
        floor = len(text) + max(0, cut.lowest - end)
        text += kept
        starts.append((cut, len(text), floor))
        new, capital = _capitalised(cut.text, capital or cut.capital)
        text += new if cut.deletes or not text[-1:].isspace() else new.lstrip()
        end = cut.end
    text += _capitalised(source[end:], capital)[0]
    for cut, at, floor in reversed(starts):
        text = _with_article(source, cut, text, at, floor)
    return text


def _capitalised(text: str, wanted: bool) -> tuple[str, bool]:
    """The text with its first word capitalised if wanted, and whether the capital is still wanted after it."""
    found = re.search(r"\w", text) if wanted else None
    if found is None:
        return text, wanted
    at = found.start()
    word = re.match(r"\S+", text[at:])
    plain = re.match(r"[^\W\d_]+", text[at:])
    if plain and plain.group().islower() and word and not is_address(word.group()):
        return text[:at] + text[at].upper() + text[at + 1 :], False
    return text, False


def _with_article(source: str, cut: _Cut, text: str, at: int, floor: int) -> str:
    """Adjust "a" or "an" before the cut to the word that now follows, unless it was already wrong before."""
    before = _ARTICLE_BEFORE.search(text[floor:at] if text[at : at + 1].strip() else text[floor:at] + " ")
    then, now = _NEXT_WORD.match(source, cut.start), _NEXT_WORD.match(text, at)
    if not before or not then or not now:
        return text
    found, start = before.group(1), floor + before.start(1)
    wanted = indefinite_article(now.group(1))
    capital = found[0] == "A"
    if found.lower() != indefinite_article(then.group(1)) or found.lower() == wanted or source.isupper():
        return text
    if capital and not _begins_sentence(text, start):
        return text
    return text[:start] + (wanted.capitalize() if capital else wanted) + text[start + len(found) :]
