"""Which words carry content: all but the closed classes of English, and signs."""

from __future__ import annotations

from redraft.text.words import normal

_CLOSED = """
determiners, pronouns and question words:
a an the this that these those each every either neither some any no all both half such what which whose
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones another other others who whom whoever whatever
whichever someone somebody something anyone anybody anything everyone everybody everything none nobody nothing
when where why how whenever wherever there here

prepositions, conjunctions and particles:
about above across after against along among amongst around as at before behind below beneath beside besides
between beyond but by despite down during except for from in inside into like near of off on onto out outside
over past per since than through throughout till to toward towards under until up upon via with within without
and or nor so yet if unless although though because while whereas whether lest once not n't also too very

auxiliaries:
am is are was were be been being 's 're 'm 've 'd 'll have has had having do does did doing done will would shall
should can could may might must ought ca wo 't
"""
_WORDS = frozenset(word for line in _CLOSED.splitlines() if not line.endswith(":") for word in line.split())


def is_content(word: str) -> bool:
    """Whether a word carries content: a letter or a digit in it, and of no closed class."""
    plain = normal(word)
    return plain not in _WORDS and any(map(str.isalnum, plain))
