"""The function words of English; every other word with a letter or a digit is a content word."""

from __future__ import annotations

from redraft.text.words import cached_for_words, normalise

_BY_CLASS = """
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
_FUNCTION_WORDS = frozenset(word for line in _BY_CLASS.splitlines() if not line.endswith(":") for word in line.split())


@cached_for_words
def is_content(word: str) -> bool:
    """Whether a word is a content word: it has a letter or a digit and is not a function word."""
    plain = normalise(word)
    return plain not in _FUNCTION_WORDS and any(map(str.isalnum, plain))
