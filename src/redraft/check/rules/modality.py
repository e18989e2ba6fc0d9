"""Rule: modality, that is duty, advice, possibility and hearsay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from redraft.check.rules.dates import is_date
from redraft.check.rules.phrase_tables import NOTHING, Phrases, word_set
from redraft.check.rules.rule_types import Finding, Side, difference

MODALS = Phrases({
    "must": """
        must, have to, has to, had to, have got to, need to, needs to, needed to, required to, obliged to, bound to,
        forced to, compelled to, is required, are required, mandatory, compulsory, obligatory, is necessary,
        are necessary, necessary to, requirement
    """,
    "shall": "shall",
    "should": """
        should, ought to, ought not, supposed to, is recommended, are recommended, is advised, are advised, advisable,
        inadvisable, had better
    """,
    "may": """
        may, might, possibly, perhaps, maybe, is possible, be possible, potentially, likely, unlikely, probably
    """,
    "can": "can, could, able to, allowed, permitted",
    "will": "will, would, going to",
    "may-not": "may not",
    "cannot": """
        cannot, can not, could not, must not, shall not, not allowed, not permitted, not be allowed, not be permitted,
        not able, not be able, not possible, unable, impossible, prohibited, forbidden, banned, illegal, unlawful
    """,
    "need not": """
        need not, not have to, not need to, not required, not be required, not necessary, not obliged, not mandatory,
        not compulsory, no need to, no obligation to, optional, voluntary
    """,
    "it is said": "apparently, allegedly, reportedly, supposedly, purportedly",
    NOTHING: "have to do with, has to do with, the need to, a need to, a must, a can, the can, should you, should it",
})  # fmt: skip
# Groups that may stand for one another: permission, ability and possibility share their verbs.
_SAME_MODALITY = {
    "must": "shall cannot", "shall": "must cannot", "may": "can may-not cannot", "can": "may may-not cannot",
    "may-not": "may cannot", "cannot": "may-not may can must shall",  # the difference is found by `negations`
}  # fmt: skip
_COUNTS_ALONE = frozenset({"must", "should", "may", "it is said"})  # others are optional: bees can fly, bees fly
_FORBIDDEN_BY_NOBODY = frozenset({"must", "shall", "may", "can"})
_NOBODY = word_set("no nobody none neither")
_SUBJECT = 4  # words before a modal verb that may contain its subject
_IMPERATIVES = word_set("never always please avoid")
# Words that express a group without being one of its phrases.
_MODAL_PARAPHRASES = {
    "must": word_set("""
        need needs needed require requires required essential vital necessary necessity duty sure only imperative
    """),
    "shall": word_set("will"),
    "should": word_set(
        "recommend recommends recommended advise advises advised advice important best better encouraged"
    ),
    "may": word_set("""
        sometimes possible possibility chance chances risk potential seem seems seemed appear appears believed suspected
        thought uncertain unclear expected expects tend tends
    """),
    "it is said": word_set("""
        say says said report reports reported claim claims claimed according think thinks thought believe believes
        believed seem seems seemed appear appears appeared accused suspected alleged
    """),
}


def modality(one: Side, two: Side) -> Iterator[Finding]:
    """Duty, advice, possibility or hearsay that is exchanged, lost or added."""
    before, after = _modals(one), _modals(two)
    lost = {group: text for group, text in before.items() if not _is_expressed(group, before, after, two)}
    new = {group: text for group, text in after.items() if not _is_expressed(group, after, before, one)}
    for side, other, groups in ((one, two, lost), (two, one, new)):
        for group in _imperative_groups(side, other):
            groups.pop(group, None)
    if not (lost and new):  # a prohibition alone is a negation
        lost, new = ({group: text for group, text in some.items() if group in _COUNTS_ALONE} for some in (lost, new))
    yield from difference("modality", lost.values(), new.values(), by_side=True)


def _modals(side: Side) -> dict[str, str]:
    """Group → its phrase in the text. May can be a month, and "nobody may" is a prohibition."""
    found = {}
    for run in MODALS.found_in(side.plain):
        subject = side.plain[max(0, run.start - _SUBJECT) : run.start]
        is_forbidden = run.group in _FORBIDDEN_BY_NOBODY and not _NOBODY.isdisjoint(subject)
        if not is_date(side, run.start):
            found["cannot" if is_forbidden else run.group] = side.phrase(run.start, run.end)
    return found


def _is_expressed(group: str, own: Mapping[str, str], others: Mapping[str, str], other: Side) -> bool:
    """Whether the other text has the group, a group with the same meaning, or a paraphrase."""
    instead = {*_SAME_MODALITY.get(group, "").split()} & (others.keys() - own.keys())
    return group in others or bool(instead) or not _MODAL_PARAPHRASES.get(group, frozenset()).isdisjoint(other.plain)


def _imperative_groups(side: Side, other: Side) -> tuple[str, ...]:
    """The groups that an imperative can express: "You must sign" is "Sign", "You should not smoke" "Do not smoke"."""
    firsts = (other.plain[at : at + 2] for at in range(len(other.plain)) if other.starts_sentence(at))
    if any(first[0] in _IMPERATIVES or first == ("do", "not") for first in firsts):
        return "must", "should"
    return ("must",) if "you" in side.plain and "you" not in other.plain else ()
