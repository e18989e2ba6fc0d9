"""British and American spelling: which one a text uses, and words written in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

from redraft.text.words import normalise, split_words

Spelling = Literal["british", "american"]

# British ending or letters → American ones, after these stems.
_OUR = """
ard arm behavi cand clam col demean endeav fav ferv flav harb hon hum lab misdemean neighb od parl ranc rig rum sav
splend succ tum val vap vig discol dishon unfav multicol
"""
_RE = "cent theat lit kilomet centimet millimet met fib calib somb lust meag spect scept"
_OGUE = "catal dial anal"
_ENCE = "def off pret"
_YSE = "anal paral catal breathal electrol hydrol"
_ISE = """
agon apolog author bapt bureaucrat capital categor central character civil computer colon critic crystall custom
democrat deput dramat econom emphas equal familiar fantas final formal fertil general global harmon hospital hypnot
human ideal immun industrial initial international item legal local magnet marginal maxim memor min minim mobil modern
monopol national neutral normal optim organ ostrac patron penal personal polar popular prior privat public rational
real recogn reorgan revital revolution sanit scrutin sensit social special stabil standard steril subsid summar symbol
sympath synchron synthes terror util vandal victim visual
"""
_LL = """
travel cancel label model counsel fuel signal total marvel level equal dial initial jewel quarrel rival channel
tunnel shovel unravel refuel
"""
_PAIRS = """
grey gray; greyer grayer; plough plow; ploughed plowed; ploughing plowing; mould mold; mouldy moldy; aluminium aluminum;
jewellery jewelry; skilful skillful; wilful willful; fulfil fulfill; fulfils fulfills; fulfilment fulfillment;
enrol enroll; enrols enrolls; enrolment enrollment; instalment installment; instalments installments; anaemia anemia;
anaesthetic anesthetic; paediatric pediatric; paediatrician pediatrician; orthopaedic orthopedic; oestrogen estrogen;
diarrhoea diarrhea; foetus fetus; foetal fetal; haemorrhage hemorrhage; leukaemia leukemia; manoeuvre maneuver;
manoeuvres maneuvers; moustache mustache; sceptical skeptical; sceptic skeptic; pyjamas pajamas; ageing aging;
cheque check; cheques checks; kerb curb; tyre tire; tyres tires; programme program; programmes programs; mum mom;
mums moms; cosy cozy; woollen woolen; marvellous marvelous; counsellor counselor; counsellors counselors;
traveller traveler; centred centered; centring centering; travellers travelers; licence license;
storey story; storeys stories; artefact artifact
"""
# American words that also are British words, with another meaning.
_OTHER_MEANING = "check checks curb tire tires program programs license story stories meter meters"
_ALSO_BRITISH = frozenset(_OTHER_MEANING.split())

_RULES = (  # stems, British ending, American ending, suffixes of both
    (_OUR, "our", "or", "|s|ed|ing|ite|ites|able|ably|ful|fully|less|hood|hoods|er|ers|ly|al|ally"),
    (_RE, "re", "er", "|s"),
    (_OGUE, "ogue", "og", "|s"),
    (_ENCE, "ence", "ense", "|s|less"),
    (_YSE, "ys", "yz", "e|ed|er|ers|ing"),  # "analyses" is also a plural
    (_ISE, "is", "iz", "e|es|ed|er|ers|ing|ation|ations|ational"),
    (_LL, "l", "", "ed|ing|er|ers"),
)


def _table() -> dict[str, str]:
    """British word → American word."""
    pairs = {british: american for british, _, american in (pair.strip().partition(" ") for pair in _PAIRS.split(";"))}
    for stems, british, american, suffixes in _RULES:
        for stem in stems.split():
            for suffix in suffixes.split("|"):
                pairs.setdefault(stem + british + suffix, stem + american + suffix)
    return pairs


_AMERICAN = _table()
_BRITISH = {american: british for british, american in _AMERICAN.items() if american not in _ALSO_BRITISH}
_IZE = re.compile(r".*iz(e|es|ed|er|ers|ing|ations?|ational)")  # also written with z in Britain (Oxford)


@lru_cache(16_384)
def spelling_of(text: str) -> Spelling | None:
    """The spelling of the words that have two; None if there are none, or of both kinds."""
    words = {normalise(word.text) for word in split_words(text)}
    british = not words.isdisjoint(_AMERICAN)
    american = any(word in _BRITISH and not _IZE.fullmatch(word) for word in words)
    return None if british == american else "british" if british else "american"


def in_spelling(text: str, spelling: Spelling) -> str:
    """The text with its words in one spelling; capitals are kept."""
    table = _AMERICAN if spelling == "american" else _BRITISH
    parts, at = [], 0
    for word in split_words(text):
        other = table.get(normalise(word.text))
        if other is not None:
            parts += [text[at : word.start], _like(word.text)(other)]
            at = word.end
    return "".join([*parts, text[at:]])


def _like(word: str) -> Callable[[str], str]:
    return str.upper if word.isupper() and len(word) > 1 else str.capitalize if word[:1].isupper() else str
