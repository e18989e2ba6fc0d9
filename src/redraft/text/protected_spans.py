"""Finds the spans that a model must never rewrite (addresses, codes, amounts, mark-up) and masks them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]

MAX_PLACEHOLDERS = 8  # per text
# The first private-use characters of Unicode.
PLACEHOLDER_CHARACTERS = "".join(map(chr, range(0xE000, 0xE000 + MAX_PLACEHOLDERS)))

_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_DOMAINS = "com|org|net|edu|gov|mil|info|io|eu|uk|de|fr|it|es|nl|ch|at|jp|cn|ru|br|ca|au|us|ai|dev|app"
_FILES = (
    "pdf|txt|csv|tsv|json|xml|html?|css|js|py|ipynb|java|cpp|rs|sh|bat|exe|dll|ini|cfg|toml|ya?ml|tex|md|log"
    "|docx?|xlsx?|pptx?|odt|png|jpe?g|gif|svg|webp|mp3|mp4|wav|avi|zip|tar|gz|xz|iso"
)
_PICTURE = (
    "[\U0001f000-\U0001faff\u2600-\u266c\u2670-\u27bf\u231a\u231b\u23e9-\u23fa\u2b50\u2b55]"  # not ♭ ♮ ♯
    "[\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*+"  # skin tones, flag tags
)
_TAIL = r'[^\s<>"“”«»`]++'
_NUMBER = r"\d++(?:[.,]\d++)*+"
_CURRENCY = "[€$£¥₹₩₽]"

# Groups of alternatives, each with a guard on the text before and after its start. Matching takes linear time: an
# alternative that starts with a long run cannot start inside one, and everything else is possessive, bounded, or stops
# at the character it starts with. No alternative matches a newline or a tab.
_Alternatives = tuple[str, dict[str, str]]
_CONTAINERS: _Alternatives = (r"(?=[!\[`<$])", {
    "link": r'!?\[[^\[\]\n\t]{1,300}\]\((?:[^()\s]|\([^()\s]{0,100}\)){0,500}(?: "[^"\n\t]{0,200}")?\)',
    "code": r"(?<!`)`(?![`\s])[^`\n\t]{1,300}(?<!\s)`(?![`\w])",  # not `so' and `so', which are old-style quotes
    "double_code": r"``(?![`\s])(?:(?!'')[^`\n\t]){1,300}(?<!\s)``(?!`)",  # not ``so'' and ``so''
    "tag": r"</?[A-Za-z][\w:-]{0,40}+(?: ?/?>| [^<>=\n\t]{0,100}=[^<>\n\t]{0,500}>)|<!--[^<>\n\t]{0,500}-->",
    "formula": r"\$(?![\s$])(?=[^$\n\t]{0,200}[\\^_])[^$\n\t]{1,200}(?<!\s)\$(?!\d)",
})  # fmt: skip
_OTHERS: tuple[_Alternatives, ...] = (
    (r"(?=[^\w\s!-\"%-),:;<-@\]-^{-~]|[0-9])", {
        "citation": r"\[\^?\d{1,4}(?: ?[,–-] ?\d{1,4}){0,20}\]",
        "command": r"\\[A-Za-z]{2,40}+\*?(?:\[[^\[\]\n\t]{0,80}\])?"
                   r"(?:\{(?:[^{}\n\t]|\{[^{}\n\t]{0,80}\}){0,80}\}){0,4}",
        "private": f"{_PRIVATE.pattern}++",
        "emoji": f"(?:{_PICTURE}(?:\u200d{_PICTURE})*+)++|[0-9#*]\ufe0f?\u20e3",
    }),
    (r"(?=[A-Za-z])(?<![\w+.-])", {
        "address": rf"[A-Za-z][A-Za-z0-9+.-]{{1,20}}://{_TAIL}|(?:mailto|tel|urn|doi):{_TAIL}|www\.{_TAIL}|[A-Z]:\\{_TAIL}",
        "publication": r"(?:ISBN|ISSN)(?:-1[03])?:? ?\d(?:[ -]?\d){6,11}[ -]?[\dXx]\b"
                       r"|arXiv: ?\d{4}\.\d{4,5}(?:v\d+)?\b",
        "account": r"[A-Z]{2}\d{2}(?: ?[A-Z]{4})?(?: ?\d{4}){2,6}(?: ?\d{1,3})?\b",
    }),
    (r"(?=\w)(?<![\w.+%@-])", {"mail": r"[\w.+%-]++@[\w-]++(?:\.[\w-]++)++"}),
    (r"(?=[\w~./@#])(?<![\w.@/\\-])", {
        "domain": rf"(?:[A-Za-z0-9-]++\.)+(?:{_DOMAINS})(?![\w@])(?!\.\w)(?::\d{{1,5}})?(?:[/?#]{_TAIL})?",
        "doi": rf"10\.\d{{4,9}}/{_TAIL}",
        "file": rf"(?:~/|\.{{1,2}}/|/)?(?:[\w.-]++/)*+[\w-]++(?:\.[\w-]++)*?\.(?:{_FILES})(?!\w)",
        "folder": r"(?:~|\.{1,2})?/[A-Za-z0-9_.-]++(?:/[A-Za-z0-9_.-]++)++/?",
        "identifier": r"_{0,2}[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)++(?:\(\))?|[A-Za-z][A-Za-z0-9]*+\(\)",
        "tagged": r"[@#][A-Za-z]\w++|#(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})(?!\w)",
    }),
    (r"(?=[\w+($€£¥₹₩₽])(?<![\w.,/:-])", {
        "amount": rf"(?:US|A|C|CA|AU|NZ|HK|S|R)?{_CURRENCY}{_NUMBER}(?:(?:bn|tn|[kKmMB])(?!\w))?"
                  rf"|{_NUMBER}{_CURRENCY}(?!\w)",
        "date": r"\d{4}(?:-\d\d?-|/\d\d?/|\.\d\d?\.)\d\d?(?:T\d\d:\d\d[\d:.]{0,12}(?:Z|[+-]\d\d:?\d\d)?)?(?![\w/-])"
                r"|\d\d?(?:-\d\d?-|/\d\d?/|\.\d\d?\.)(?:\d{4}|\d\d)(?![\w/-])",
        "phone": r"(?:\+|00(?=[1-9]))\d{1,3}(?: ?\(0?\d{1,4}\))?(?:[ ./-]?\d{2,5}){2,5}(?!\w)"
                 r"|\(\d{2,5}\) ?\d{3,4}[ .-]?\d{3,4}(?!\w)|\d{3}[.-]\d{3}[.-]\d{4}(?!\w)"
                 r"|0\d{2,4}(?: \d{3,4}|/\d{2,4}|-\d{3})[ -]?\d{3,4}(?!\w)",
        "time": r"\d\d?:\d\d(?::\d\d)?(?:\.\d{1,6})?(?:[ap]m)?(?![\w:]|[.,]\d)",
        "digits": r"\d++(?:-\d++){2,}+(?!\w)",
        "version": r"[vV]\d++(?:\.\d++)++(?:-[A-Za-z0-9]++)?(?!\w)|\d++(?:\.\d++){2,}+(?:-[A-Za-z0-9]++)?(?!\w)",
        "network": r"[A-Fa-f0-9]{1,4}(?::[A-Fa-f0-9]{1,4}){4,7}(?!\w)",
        "mixed": r"(?=[A-Za-z_/.-]{0,30}\d)(?!\d++(?![\w/.:-]))"
                 r"[A-Za-z0-9]++(?:(?:[-_/.]|:(?=\d))[A-Za-z0-9]++)*+(?!\w)",
    }),
)  # fmt: skip


def _compiled(*groups: _Alternatives) -> re.Pattern[str]:
    return re.compile(
        "|".join(
            f"{guard}(?:{'|'.join(f'(?P<{name}>{pattern})' for name, pattern in table.items())})"
            for guard, table in groups
        )
    )


_ALL_PATTERNS, _INNER_PATTERNS = _compiled(_CONTAINERS, *_OTHERS), _compiled(*_OTHERS)
_TRIMMED_GROUPS = ("address", "domain", "doi")
_TAB = re.compile(r"(?<! ) *+\t[ \t]*+")
_TABBED_LINE = re.compile(r"(?<![^\n])[^\n\t]*+\t[^\n]*+")
_MAX_CELL_WORDS = 5  # a longer cell is running text
_CODE_SEPARATOR = re.compile(r"[-_/.:]")
_RUN = re.compile(r"[A-Za-z]+|\d+")
_WITH_UNIT = re.compile(r"\d+(?:x\d+)+[a-z]*|\d+(?:AD|BC|BCE|CE|[A-Z])")  # 4x100m, 300BC, 5000K
_LOWER = re.compile("[a-z]{2}")
_HASH = re.compile(r"[0-9a-f]{7,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_ADDRESS = re.compile(
    r"\w+://\S+|www\.\S+|[^\s@]+@[^\s@]+\.\w+|[A-Za-z]:\\\S*|[\w-]+(?:\.[\w-]+)+/\S*"
    r"|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|info|io|eu|uk|de|fr|it|es|nl|ch|at|jp|cn|ru|br|ca|au)"
)
_AROUND_ADDRESS = "()[]<>.,;!?\"'"  # punctuation that may surround an address


def protected_spans(text: str) -> list[Span]:
    """The spans of a text that must stay unchanged, in order; adjacent spans are merged."""
    return _merge(_find_spans(text))


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with one private-use character, a placeholder, for each protected span."""

    text: str
    originals: tuple[str, ...] = ()
    placeholders: str = ""  # the placeholder of each original
    spans: tuple[Span, ...] = ()  # of each original in the source
    unmasked: tuple[Span, ...] = ()  # protected spans that are not masked, because there are more than MAX_PLACEHOLDERS

    def restore(self, output: str) -> str:
        """The output with placeholders replaced by their originals; spaces next to restored white space are dropped."""
        for mark, original in zip(self.placeholders, self.originals, strict=True):
            if original.isspace():
                output = re.sub(f" *{mark} *", mark, output)
        return output.translate(dict(zip(map(ord, self.placeholders), self.originals, strict=True)))

    def keeps_placeholders(self, output: str) -> bool:
        """Whether the output has the same private-use characters as `text`, each equally often, in any order."""
        return Counter(_PRIVATE.findall(output)) == Counter(_PRIVATE.findall(self.text))

    def to_masked(self, span: Span) -> Span | None:
        """A span of the source as a span of `text`; None if it starts or ends inside a protected span."""
        start, end = self._to_masked(span[0]), self._to_masked(span[1])
        return None if start is None or end is None else (start, end)

    def to_source(self, span: Span) -> Span:
        """A span of `text` as a span of the source."""
        return self._to_source(span[0]), self._to_source(span[1])

    def _to_masked(self, at: int) -> int | None:
        shift = 0
        for start, end in self.spans:
            if start < at < end:
                return None
            if at >= end:
                shift += end - start - 1
        return at - shift

    def _to_source(self, at: int) -> int:
        for start, end in self.spans:
            if at <= start:
                break
            at += end - start - 1
        return at


def mask_protected(text: str, *, unprotected: Iterable[Span] = ()) -> MaskedText:
    """Replace protected spans by placeholders, except those that overlap one of the `unprotected` spans.

    Of a link, a code or a table row that overlaps one, the inner protected parts that do not overlap are still masked.
    """
    spans = _merge(_still_protected(text, _find_spans(text), list(unprotected)))
    # A private-use character that stays in the text could be taken for a placeholder, so these are masked first.
    ranked = sorted(spans, key=lambda span: _PRIVATE.search(text, *span) is None)
    for count in range(min(MAX_PLACEHOLDERS, len(ranked)), -1, -1):
        chosen = sorted(ranked[:count])
        pieces = _unmasked_pieces(text, chosen)
        marks = [mark for mark in PLACEHOLDER_CHARACTERS if all(mark not in piece for piece in pieces)][:count]
        if len(marks) == count:
            break
    return MaskedText(
        "".join(piece + mark for piece, mark in zip(pieces, [*marks, ""], strict=True)),
        tuple(text[slice(*span)] for span in chosen),
        "".join(marks),
        tuple(chosen),
        tuple(span for span in spans if span not in chosen),
    )


def overlaps(span: Span, others: Iterable[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def is_address(text: str) -> bool:
    """Whether a text without white space is a web, e-mail or file address."""
    return _ADDRESS.fullmatch(text.strip(_AROUND_ADDRESS)) is not None


def missing_addresses(source: str, output: str) -> list[str]:
    """Addresses of the source that the output does not contain unchanged."""
    words = (word.strip(_AROUND_ADDRESS) for word in source.split())
    return [word for word in words if is_address(word) and word not in output]


def _unmasked_pieces(text: str, spans: Sequence[Span]) -> list[str]:
    """The text before, between and after the spans."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return [text[end:start] for end, start in zip(ends, starts, strict=True)]


def _still_protected(text: str, spans: Iterable[Span], unprotected: Sequence[Span]) -> Iterator[Span]:
    """The spans that do not overlap `unprotected`; of the others, the inner protected parts that do not."""
    for span in spans:
        if not overlaps(span, unprotected):
            yield span
        else:
            parts = _merge([*_matches(_INNER_PATTERNS, text, span), *_spans(_TAB, text, span)])
            yield from (part for part in parts if not overlaps(part, unprotected))


def _merge(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, adjacent and overlapping ones merged."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _find_spans(text: str) -> list[Span]:
    """Table rows, tabs outside rows, and matches of the patterns outside both."""
    if "\t" not in text:
        return list(_matches(_ALL_PATTERNS, text))
    rows = [row for line in _spans(_TABBED_LINE, text) for row in _table_row(text, line)]
    starts = [start for start, _ in rows]

    def outside(span: Span) -> bool:
        before = bisect_right(starts, span[0])
        return before == 0 or rows[before - 1][1] <= span[0]

    return sorted([*rows, *filter(outside, [*_matches(_ALL_PATTERNS, text), *_spans(_TAB, text)])])


def _table_row(text: str, line: Span) -> list[Span]:
    """The whole line if it is a table row: all cells are short and none is a sentence."""
    cells = [cell.strip() for cell in text[slice(*line)].split("\t")]
    filled = [cell for cell in cells if cell]
    short = all(len(cell.split()) <= _MAX_CELL_WORDS and cell[-1] not in ".!?…" for cell in filled)
    return [line] if len(filled) > 1 and short else []


def _spans(pattern: re.Pattern[str], text: str, within: Span | None = None) -> Iterator[Span]:
    start, end = within or (0, len(text))
    return (match.span() for match in pattern.finditer(text, start, end))


def _matches(pattern: re.Pattern[str], text: str, within: Span | None = None) -> Iterator[Span]:
    at, stop = within or (0, len(text))
    while match := pattern.search(text, at, stop):
        start, end = match.span()
        if match.lastgroup in _TRIMMED_GROUPS:
            end = _trim_end(text, start, end)
        elif match.lastgroup == "mixed" and not _is_code(match.group()):
            at = start + 1  # another match may start inside it
            continue
        yield start, end
        at = end


def _trim_end(text: str, start: int, end: int) -> int:
    """The end of an address without the punctuation of the sentence around it."""
    closing = {")": "(", "]": "[", "}": "{"}
    unmatched = {sign: text.count(sign, start, end) - text.count(closing[sign], start, end) for sign in closing}
    while end > start + 1:
        sign = text[end - 1]
        if unmatched.get(sign, 0) > 0:
            unmatched[sign] -= 1
        elif sign not in ".,;:!?'’*_~":
            break
        end -= 1
    return end


def _is_code(word: str) -> bool:
    """Whether a word with digits is a code, not an ordinary word or name such as 16-year-old, 1990s, COVID-19, F-16."""
    parts = _CODE_SEPARATOR.split(word)
    digits = sum(map(str.isdigit, word))
    switches = sum(len(_RUN.findall(part)) - 1 for part in parts)
    if digits == len(word) - len(parts) + 1:  # 2016/679 is a code, 1990/91 and 1914/1918 are years
        years = all(len(part) == 4 for part in parts)
        return "/" in word and all(len(part) > 2 for part in parts) and digits > 6 and not years
    if _WITH_UNIT.fullmatch(word):
        return False
    if switches > 2 and len(word) > 5:
        return True
    if _HASH.fullmatch(word) and 1 < digits < len(word) - 1 and switches > 1:
        return True
    if _LOWER.search(word) or word.islower():
        return False
    return digits > 3 or (len(parts) > 2 and digits > 2)
