"""Targets that would change the meaning: opposites, look-alikes, sisters, other quantities. By WordNet and by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from unicodedata import combining, normalize

from redraft.models import bundled
from redraft.table_files import read_rows
from redraft.text.function_words import is_content
from redraft.text.names import is_negation

# Contrasts end with a semicolon: what stands on two sides of a bar must not be written for one another.
CONTRASTS = {
    "another unit": """
        kilometre kilometer km | mile | nautical_mile | metre meter | foot feet | inch | yard | centimetre
            centimeter cm | millimetre millimeter mm ;
        kilogram kilogramme kg | gram gramme | pound lb | ounce oz | tonne ton | stone | milligram mg ;
        litre liter | gallon | pint | millilitre milliliter ml | barrel | bushel ;
        second | minute | hour | day | week | fortnight | month | quarter | year | decade | century | millennium
            ;
        celsius | fahrenheit | kelvin ;
        hectare | acre | square_kilometre | square_mile ;
        dollar | pound | euro | yen | franc | cent | penny | rupee | yuan ;
        watt | volt | ampere | joule | newton | hertz
    """,
    "another number": """
        one single | two both pair couple double twice | three triple | four | five | six | seven | eight | nine
            | ten | dozen | twenty | hundred | thousand | million | billion | trillion ;
        first firstly | second secondly | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth |
            last lastly final ;
        half | third | quarter | double | triple | whole ;
        hundred hundreds | thousand thousands | million millions | billion billions | dozens ;
        once | twice | thrice ;
        daily | weekly | monthly | yearly annually annual | hourly
    """,
    "another quantity": """
        all every each everyone everybody everything whole entire complete | most majority | many numerous lots
            a_lot various multiple plenty | some several various multiple few a_few any | none no nobody nothing
            neither no_one | half ;
        all every whole entire | part partial some ;
        entirely completely fully wholly totally absolutely | mostly mainly largely chiefly primarily | partly
            partially somewhat slightly a_little | hardly barely scarcely | almost nearly ;
        always constantly | usually generally normally typically mostly commonly often frequently regularly |
            sometimes occasionally | rarely seldom infrequently hardly | never ;
        many numerous several | few ;
        both | either | neither ;
        only solely just exclusively | mainly mostly largely primarily | also too | even ;
        enough sufficient adequate | excessive too_much | insufficient inadequate
    """,
    "another modality": """
        must shall have_to has_to need_to needs_to required mandatory obliged compulsory | should ought_to
            recommended advised | may might can could optional allowed permitted | cannot forbidden prohibited ;
        will shall would | may might could can ;
        possibly perhaps maybe possible | probably likely probable | certainly definitely surely certain
            definite | impossible ;
        allegedly reportedly supposedly apparently | certainly definitely actually really ;
        know | believe think | suspect doubt ;
        claim allege argue suggest | prove confirm demonstrate show | deny refute disprove ;
        try attempt seek | succeed manage | fail ;
        plan intend propose | complete finish
    """,
    "another bound": """
        at_least no_less_than minimum no_fewer_than | at_most up_to no_more_than maximum not_more_than | about
            around approximately roughly nearly almost some | exactly precisely | more_than over above exceeding
            | less_than under below fewer_than ;
        minimum minimal least lowest smallest fewest | maximum maximal most highest largest greatest | average
            mean middle median ;
        more greater higher larger bigger longer better further | less lower smaller fewer shorter worse | same
            equal ;
        before until till previously prior earlier | after since afterwards later subsequently following |
            during while ;
        upper top | lower bottom | middle ;
        until | from since ;
        beginning start | middle | end ending ;
        exceed surpass | reach attain | approach ;
        oldest eldest | youngest newest latest
    """,
    "the other direction": """
        buy purchase acquire | sell | rent lease hire ;
        lend loan | borrow ;
        import | export ;
        arrive come enter reach | leave depart exit go_away quit ;
        rise increase grow climb raise go_up gain surge soar growth | fall decrease drop decline reduce shrink
            sink lower go_down lose cut reduction loss ;
        give donate | take ;
        send pay | get receive ;
        push | pull ;
        win beat defeat victory conquer triumph | lose surrender defeat loss ;
        open | close shut ;
        start begin commence launch initiate beginning | stop end finish cease halt conclude ending terminate |
            continue ;
        accept approve agree | reject refuse decline turn_down disapprove disagree ;
        allow permit let enable authorize authorise | forbid ban prohibit prevent stop prohibited banned | force
            compel require ;
        include including contain | exclude excluding omit except ;
        create build make construct form | destroy demolish ruin ;
        teach | learn study ;
        ask question | answer reply ;
        appear emerge | disappear vanish ;
        encourage support promote | discourage oppose prevent ;
        employ hire recruit | fire dismiss sack ;
        attack invade | defend protect ;
        gain | lose ;
        join unite | leave separate divide split ;
        love like | hate dislike ;
        live survive | die kill ;
        birth born | death dead ;
        above | below ;
        inside within internal inner | outside external outer ;
        north northern northward | south southern southward | east eastern eastward | west western westward ;
        left | right ;
        front forward | back backward rear ;
        early earlier | late later ;
        former previous | latter next following current present future ;
        past | present current | future ;
        ancient old | new modern young recent ;
        inversely indirectly | directly ;
        cause | effect result consequence ;
        predecessor ancestor | successor descendant ;
        employer boss | employee worker staff ;
        teacher professor | student pupil ;
        doctor physician | patient | nurse | dentist | vet ;
        winner | loser ;
        friend ally | enemy foe rival opponent ;
        debt | credit asset ;
        profit | loss ;
        demand | supply ;
        remember | forget ;
        strengthen | weaken ;
        expand extend lengthen widen | contract shorten narrow ;
        add | subtract remove ;
        multiply | divide ;
        succeed success | fail failure ;
        hot warm | cold cool ;
        wet | dry ;
        day | night ;
        morning | afternoon | evening | noon ;
        spring | summer | autumn | winter ;
        protestant | catholic | orthodox ;
        man boy | woman girl ;
        husband | wife ;
        brother | sister ;
        father dad | mother mum mom ;
        son | daughter ;
        uncle | aunt ;
        nephew | niece ;
        king | queen | prince | princess ;
        male | female ;
        monday | tuesday | wednesday | thursday | friday | saturday | sunday ;
        january | february | march | april | may | june | july | august | september | october | november |
            december ;
        red | blue | green | yellow | black | white | brown | orange | purple | pink | grey gray ;
        war | peace ;
        rich wealthy | poor ;
        safe | dangerous ;
        cheap affordable inexpensive | expensive costly ;
        public | private secret ;
        majority | minority ;
        land | sea | air ;
        animal | plant ;
        vowel | consonant ;
        input | output ;
        income revenue | expense cost expenditure ;
        host | guest ;
        buyer customer | seller vendor ;
        landlord | tenant ;
        lawyer | judge ;
        plaintiff | defendant ;
        guilty | innocent ;
        legal lawful | illegal unlawful ;
        temporary | permanent ;
        voluntary | compulsory mandatory ;
        domestic | foreign international ;
        urban | rural ;
        local | national | international | global ;
        acute | chronic ;
        benign | malignant ;
        mild | severe serious ;
        artery | vein ;
        bacteria bacterium | virus | fungus ;
        symptom | cause ;
        treatment cure therapy | disease illness ;
        inhale | exhale ;
        constipation | diarrhoea diarrhea
    """,
}
# Prefixes and suffixes that turn what they are put to around, and parts of words that contrast with one another.
_NEGATIVE = ("un", "in", "im", "il", "ir", "dis", "non", "non-", "mis", "de")
_PAIRS = """
hyper hypo | pre post | ante post | over under | inter intra | macro micro | in ex | im ex | inter exter | pro anti |
in de | en dis | as de | out in | up down | fore back | sub super | endo exo | homo hetero | multi mono | poly mono |
maxi mini | bene male | uni multi | mono bi | bi tri | intro extro | emi immi | e im | in out | under over | epi hypo |
eu dys | brady tachy | neo paleo | inner outer
"""
_OPPOSED = tuple(tuple(pair.split()) for pair in _PAIRS.split("|"))
_SAME_ANYWAY = """
invaluable valuable inflammable flammable unravel ravel disease ease discover cover display play discuss discharge
charge dispose pose distress stress distract tract dispatch patch disclose close discourse course disguise guise
dissolve solve dismiss miss mistake take mistress misfit undertake undergo inform form invest vest instill inland inborn
born indeed deed inquire inside income increase crease incense incur industry infer inflame flame inflate inhabit
inhabited habit inherit input insert install stall insure sure intend tend intense tense intent tent invent vent involve
ingrained grained impact pact impart part impress press improve prove import port impose implant plant imprint print
impassioned passionate irradiate radiate illuminate luminate depict describe scribe defend denote note depart deliver
liver declare decode demand mand demark mark depend pend deposit derive design sign despite spite detail tail detain
determine detest test develop devote vote decease debar bar delimit limit define fine degrade defraud fraud despoil
spoil desire sire deserve serve decline line deem defer denominate nominate designate demonstrate debase base delay lay
defile file decision derange range unit unite irradiation irradiated deprivation privation desert deride ride debrief
brief dethrone delete debate bate detract indent dent inset set intone tone inroad road encounter counter inlaid laid
degenerate generate dewater depress
"""
_IS_NO_NEGATIVE = frozenset(_SAME_ANYWAY.split())
_NEGATIVE_WORDS_TEXT = """
lack lacks lacked lacking absent absence refuse refused refuses reject rejected fail failed fails failing deny denied
rare rarely seldom except exclude excluded excluding avoid avoided prevent prevented forbid forbidden prohibit
prohibited banned ban few little free devoid minus exempt stop stopped missing wrong false scarce scarcely barely hardly
neither nor cease ceased abstain abstained omit omitted decline declined neglect neglected extinct dead invisible
different blind resent object oppose bar reluctant poorly hate against rather instead whether unlike discourage refrain
restrain hinder escape miss keep block halt end lose give skip drop turn dismiss resist shun evade dodge contradict
dispute leave void null ignore clear away off out from bad badly poor difficult trouble problem defeat rid loss
need want remove delete rejection refusal exception exemption abstention abandon failure error mistake chorus song trash
"""
_NEGATIVE_WORDS = frozenset(_NEGATIVE_WORDS_TEXT.split())
# To write a word for one of these that has no negation in it turns the sentence around: deny, say.
_DENIALS_TEXT = """
deny avoid prevent refuse reject fail lack discourage forbid prohibit exclude omit neglect abstain refrain
unsuccessfully unsuccessful failure refusal denial avoidance prevention rejection prohibition exclusion inability
"""
_DENIALS = frozenset(_DENIALS_TEXT.split())
_SOFT = frozenset({"hardly", "barely", "scarcely", "rarely", "seldom"})  # a negation in part
_FORMAL = ("ic", "al", "ous", "ar", "ly")  # a- is a negation before words like these: atypical, asymptomatic
_NOUNS = ("ity", "ence", "ance", "ness", "tion", "sion", "ency", "ancy", "ice", "ment", "tude", "ure", "ty", "ion")
_RULES = (
    ("ies", "y"), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("es", "e"),
    ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("ier", "y"),
    ("iest", "y"), ("er", "e"), ("er", ""), ("est", "e"), ("est", ""),
)  # fmt: skip
_SPELLINGS = (
    ("ice", "ise"), ("isation", "ization"), ("ising", "izing"), ("ised", "ized"), ("ises", "izes"), ("ise", "ize"),
    ("yse", "yze"), ("our", "or"), ("aeo", "eo"), ("ae", "e"), ("oe", "e"), ("ll", "l"), ("tre", "ter"), ("ogue", "og"),
    ("ence", "ense"), ("ph", "f"), ("mme", "m"), ("grey", "gray"), ("dgement", "dgment"), ("que", "ck"),
    ("pp", "p"), ("ss", "s"),
)  # fmt: skip
_KINDS_TEXT = """
animal plant food substance garment clothing weapon vehicle fabric furniture drug disease sport relative musician
performer athlete scientist mineral metal vegetable fruit beverage tree insect bird fish mammal polygon color colour
organ meal alloy
"""
_KINDS = frozenset(_KINDS_TEXT.split())
# Verbs that say nothing without their object, and what they may be written for although WordNet does not know it.
_VAGUE = {
    "make": "earn elect appoint convert declare commit compile manufacture fabricate mass-produce synthesize reach "
    "craft brew bake draft sew paint fashion sculpt carve enact creation",
    "say": "report claim conclude confirm state write boast stipulate emphasize emphasise argue announce comment "
    "remark reveal note add declare assert maintain contend explain estimate admit concede insist suggest propose "
    "recommend mention observe proclaim cite testify warn complain predict speculate express specify indicate "
    "allege quote stress aver opine recount posit",
    "use": "employ apply utilize utilise adopt exploit deploy wield consume spend operate exercise need involve re-use",
    "become": "turn get grow evolve transform",
    "go": "attend travel depart proceed flee head move march journey visit walk drive sail fly pass",
    "put": "place superimpose position install set lay insert apply add deposit store",
}
# Words for nearly everything, and what they may be written for: WordNet has them above too many others.
_WIDE = {
    "person": "individual human being somebody someone",
    "people": "individual person human population inhabitant citizen folk public humanity mankind populace personnel",
    "thing": "object item article gizmo gadget",
    "place": "location site spot venue locale position premise",
    "group": "ensemble cluster band collection association set batch",
    "part": "portion section component segment element piece share role",
    "way": "manner method means route path approach fashion mode avenue",
    "area": "region zone district territory vicinity location",
    "money": "fund cash currency funding payment",
    "able": "capable competent",  # who is eligible may, whether able or not
    "eat": "devour dine feed ingest",
    "bad": "poor awful terrible adverse unfavourable unfavorable inclement dreadful severe",
}
# Fixed terms that WordNet lacks: a word of one is not replaced by itself.
_TERMS_TEXT = """
accelerated learning; accident and emergency; acquired brain injury; active ingredient; acute care; acute coronary
syndrome; acute hospital; acute kidney injury; acute trust; acute ward; additional needs; additional rate; additional
support needs; advance decision; advance directive; annual general meeting; appropriate adult; appropriate technology;
artist in residence; assisted conception; assisted dying; assisted living; assisted reproduction; attendance allowance;
basic rate; carbon footprint; child benefit; chronic fatigue syndrome; chronic kidney disease; civil partnership; civil
rights; community care; consolidated accounts; consolidated fund; continuing care; corporation tax; county court; court
of appeal; criminal justice; critical care; crown court; deep vein thrombosis; designated area; designated survivor;
direct debit; domiciliary care; due diligence; emergency department; equivalent circuit; freedom of information; further
education; general meeting; general practice; general public; higher rate; hire purchase; housing benefit; impacted
wisdom tooth; initial teacher training; intensive farming; joint account; joint tenancy; learning difficulty; legal aid;
lethal injection; machine learning; magistrates court; major incident; major trauma; mandatory minimum; mandatory
reconsideration; minor ailment; minor injuries unit; minor injury unit; minor offence; minor offense; multiple birth;
multiple choice; multiple deprivation; multiple intelligence; multiple occupancy; multiple occupation; multiple organ
failure; multiple pregnancy; net worth; palliative care; pension credit; permitted development; place of residence;
primary caregiver; primary carer; primary education; primary healthcare; primary key; primary legislation; primary
residence; primary source; public limited company; purchasing power; reasonable adjustment; reasonable doubt; renewable
energy; repetitive strain injury; required reading; residence permit; residential care; residential home; respite care;
retained earnings; retained firefighter; secondary care; secondary legislation; secondary source; share option;
significant other; small claims court; social care; social housing; sole trader; special needs; statutory instrument;
statutory sick pay; tertiary care; tertiary education; universal credit; value added tax
"""
_IS_FINE = {verb: frozenset(others.split()) for verb, others in _VAGUE.items()}
_IS_NOT_TOO_WIDE = {word: frozenset(others.split()) for word, others in _WIDE.items()}
_NOT_OPPOSITE = frozenset({("come", "go"), ("go", "come")})
_PREFIXES = ("re", "co", "bio", "micro", "mini", "self", "pre", "sub")  # a word without them says less, nothing else
_SUFFIXES_TEXT = """
s e es ed ing er ers or ors ion ions al als ally ic ics ical ically ive ives ively ity ities y ies ly ment ments ness
ous ously able ible ance ances ence ences ant ants ent ents ation ations ism ist ists ize ise ary ery ory ate ates ated
acy acies cy cies man men
"""
_SUFFIXES = frozenset(_SUFFIXES_TEXT.split()) | {""}
_KNOWN = 65_536  # answers that are remembered
_UNJUDGED = "not judged yet"
_LONGEST_TERM = 4  # words
_DEEPEST = 64  # steps from a synset to the highest above it, at most
_NEAR = 2  # steps up to a hypernym
_LOW = 5  # depth of a parent whose children are sisters
_GENERAL = 12  # synsets below a word that may stand for any of them
_STEM = 6  # letters that words of one stem share
_SHORT = 5  # letters of words that may look alike
_UNLIKE = 0.25  # letters changed per letter up to which words look alike
_UNLIKE_LONG = 4  # and all in all


@dataclass
class _Relations:
    """The rows of the table, ready to be asked."""

    synsets: list[tuple[str, int, int, tuple[str, ...]]] = field(default_factory=list)  # kind, depth, parent, words
    senses: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    main: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))  # first senses
    antonyms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    family: dict[str, int] = field(default_factory=dict)
    bases: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    terms: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # last word → what stands before it

    @classmethod
    def of(cls, rows: Iterable[list[str]]) -> _Relations:
        found, above = cls(), [-1] * _DEEPEST  # the last synset of each depth
        for term in " ".join(_TERMS_TEXT.split()).split("; "):
            before, _, last = term.rpartition(" ")
            found.terms[last].add(before)
        for number, (kind, *cells) in enumerate(rows):
            if kind == "!":
                for other in cells[1].split():
                    found.antonyms[cells[0]].add(other)
                    found.antonyms[other].add(cells[0])
            elif kind == "=":
                found.family.update((word, number) for word in cells[0].split())
            elif kind == "~":
                for form in cells[1].split():
                    found.bases[form].add(cells[0])
            elif kind == "_":
                found.terms[cells[0]].update(cells[1].split("; "))
            else:
                found._add(kind, int(cells[0]), cells[1].split(), above)
        return found

    def _add(self, kind: str, depth: int, words: list[str], above: list[int]) -> None:
        place = len(self.synsets)
        above[depth] = place
        plain = tuple(word.rstrip("+") for word in words)
        self.synsets.append((kind, depth, above[depth - 1] if depth else -1, plain))
        for word, marked in zip(plain, words, strict=True):
            self.senses[word].append(place)
            if marked.endswith("+"):
                self.main[word].add(place)

    def above(self, place: int, steps: int) -> Iterator[int]:
        """A synset and those it stands under, at most so many steps."""
        while place >= 0 and steps >= 0:
            yield place
            place, steps = self.synsets[place][2], steps - 1


class TargetGuard:
    """Says which targets must not be written for a phrase."""

    def __init__(self, rows: Iterable[list[str]]) -> None:
        self._table = _Relations.of(rows)
        self._cells = _contrasts()
        self._forms: dict[str, frozenset[str]] = {}
        self._verdicts: dict[tuple[str, str], str | None] = {}

    @classmethod
    def load(cls, path: str | Path | None = None) -> TargetGuard:
        """From a table of `redraft.fit.planner.wordnet_tables`, or the one that comes with the package."""
        path = path or bundled("planner") / "wordnet_relations.tsv.xz"
        return cls(read_rows(path, _parsed))

    def refused(self, phrase: str, target: str) -> str | None:
        """Why a target must not be written for a phrase, in a few words; None where nothing speaks against it."""
        pair = phrase.lower(), target.lower()
        if (found := self._verdicts.get(pair, _UNJUDGED)) is _UNJUDGED:
            if len(self._verdicts) >= _KNOWN:  # another thread may ask at the same time, so nothing is read back
                self._verdicts.clear()
            found = self._verdicts[pair] = self._verdict(*pair)
        return found

    def _verdict(self, phrase: str, target: str) -> str | None:
        ones, others = self.forms(phrase), self.forms(target)
        if ones & others:
            return None
        same, reason = self._contrast(ones, others)
        if reason:
            return reason
        if reason := _negated(phrase, target, ones, others):
            return reason
        if _spelling(phrase) == _spelling(target):
            return None
        core, other = _core(phrase, target)
        if not core or not other or " " in core or " " in other:
            return None
        ones, others = self.forms(core), self.forms(other)
        if any(self._opposite(one, two) for one in ones for two in others):
            return "the opposite"
        if any(ones.isdisjoint(fine) for wide, fine in _IS_NOT_TOO_WIDE.items() if wide in others):
            return "too vague"
        if same or self._related(ones, others):
            return None
        if self._cluster_opposite(ones, others) or self._indirect_opposite(ones, others):
            return "the opposite"
        if _looks_alike(core, other, ones, others):
            return "a different word that looks alike"
        if self._sisters(core, other):
            return "another thing of the same kind"
        if any(ones.isdisjoint(fine) for verb, fine in _IS_FINE.items() if verb in others):
            return "too vague"
        if self._is_unknown(core, ones) and self._is_unknown(other, others) and not _derived(core, other):
            return "another name"
        return None

    def _is_unknown(self, word: str, forms: Set[str]) -> bool:
        """No common noun, verb or adjective: a name, an abbreviation, or a very rare word."""
        return word.isalpha() and is_content(word) and forms.isdisjoint(self._table.senses)

    def forms(self, phrase: str) -> frozenset[str]:
        """A word and what it may be a form of; a phrase as it stands, and with its first word's."""
        found = self._forms.get(phrase)
        if found is None:
            if len(self._forms) >= _KNOWN:
                self._forms.clear()
            first, space, rest = phrase.partition(" ")
            found = self._forms[phrase] = frozenset(f"{one}{space}{rest}" for one in self._bases(first))
        return found

    def terms(self, words: Sequence[str]) -> list[range]:
        """Where fixed terms of several words stand ("multiple sclerosis"), in words that are `normal`."""
        return [
            range(start, end)
            for end in range(2, len(words) + 1)
            for start in range(max(0, end - _LONGEST_TERM), end - 1)
            if self.is_term(words[start:end])
        ]

    def is_term(self, words: Sequence[str]) -> bool:
        """Whether words are a fixed term; the last may be a plural."""
        *before, last = words
        irregular = last in self._table.bases and not last.endswith(("ed", "ing"))  # a film starring him
        ones = self.forms(last) if irregular or last.endswith("s") else (last,)
        return any(" ".join(before) in self._table.terms.get(one, ()) for one in ones)

    def senses(self, phrase: str) -> set[int]:
        """The numbers of the synsets that a phrase may belong to."""
        return self._synsets(self.forms(phrase.lower()))

    def antonyms(self, word: str) -> set[str]:
        return {other for form in self.forms(word.lower()) for other in self._table.antonyms.get(form, ())}

    def sisters(self, word: str) -> set[str]:
        """Words for other things of the same kind: they stand under the same word, in their first senses."""
        forms = self.forms(word.lower())
        parents = {self._table.synsets[place][2] for form in forms for place in self._table.main.get(form, ())}
        return {other for parent in parents - {-1} for other in self._children.get(parent, ())} - forms

    @cached_property
    def _children(self) -> dict[int, set[str]]:
        """The words directly under a synset, in their first senses."""
        found = defaultdict(set)
        for word, places in self._table.main.items():
            for place in places:
                found[self._table.synsets[place][2]].add(word)
        return found

    def have_close_senses(self, phrase: str, target: str) -> bool:
        """Whether the two may share a synset, or the one directly above."""
        here, there = (self._up(self.senses(text), 1) for text in (phrase, target))
        return bool(here & there)

    def _synsets(self, forms: Set[str]) -> set[int]:
        return {place for form in forms for place in self._table.senses.get(form, ())}

    def _up(self, places: Set[int], steps: int) -> set[int]:
        """Synsets and those they stand under, at most so many steps."""
        return {above for place in places for above in self._table.above(place, steps)}

    def _bases(self, word: str) -> Iterator[str]:
        yield word
        yield from self._table.bases.get(word, ())
        for ending, instead in _RULES:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                base = word.removesuffix(ending) + instead
                once = base[:-1] if base[-2:-1] == base[-1:] else base  # stopped, stop
                yield from (one for one in (base, once) if one in self._table.senses)

    def _contrast(self, ones: Set[str], others: Set[str]) -> tuple[bool, str | None]:
        """Whether both stand on one side of a contrast, and why the one is no target if they stand on two."""
        here, there = ([cell for one in some for cell in self._cells.get(one, ())] for some in (ones, others))
        same, other = bool(set(here) & set(there)), None
        for reason, line, _ in here:
            mine = {cell for _, number, cell in here if number == line}
            its = {cell for _, number, cell in there if number == line}
            if its and not mine & its:
                other = reason
        return same, other

    def _opposite(self, one: str, other: str) -> bool:
        if (one, other) in _NOT_OPPOSITE:
            return False
        return other in self._table.antonyms.get(one, ()) or self._by_affix(one, other) or self._by_affix(other, one)

    def _by_affix(self, long: str, short: str) -> bool:
        """Whether the first is the second with a negation: unable, able; careless, careful."""
        if long.endswith("less") and long[:-4] and short in (long[:-4], long[:-4] + "ful", long[:-4] + "y"):
            return len(long) > 6
        if len(short) < 4 or long in _IS_NO_NEGATIVE:
            return False
        if long.startswith("a") and long[1:] == short and short.endswith(_FORMAL):
            return True
        for prefix in _NEGATIVE:
            if long == prefix + short:
                return prefix in ("un", "dis", "non", "non-", "mis") or self._both_are_qualities(long, short)
        for one, other in _OPPOSED:
            for first, second in ((one, other), (other, one)):
                if long.startswith(first) and short.startswith(second) and long[len(first) :] == short[len(second) :]:
                    return len(long) - len(first) >= 4
        return False

    def _both_are_qualities(self, one: str, other: str) -> bool:
        if one.endswith(_NOUNS) and other.endswith(_NOUNS):
            return True
        kinds = [{self._table.synsets[place][0] for place in self._table.senses.get(word, ())} for word in (one, other)]
        return all(kind & {"a", "r"} for kind in kinds) or "v" in kinds[0] & kinds[1]

    def _related(self, ones: Set[str], others: Set[str]) -> bool:
        """In one synset, one above the other, in one cluster of adjectives, or derived from one another."""
        table = self._table
        families = [{table.family[one] for one in some if one in table.family} for some in (ones, others)]
        if families[0] & families[1]:
            return True
        here, there = self._synsets(ones), self._synsets(others)
        up, down = self._up(here, _NEAR), self._up(there, _NEAR)
        return bool(up & there or down & here)

    def _cluster_opposite(self, ones: Set[str], others: Set[str]) -> bool:
        """Adjectives whose heads are antonyms, each in one of its first senses."""
        here, there = (
            {word for one in some for place in self._table.main.get(one, ()) for word in self._heads(place)}
            for some in (ones, others)
        )
        return any(self._table.antonyms.get(word, set()) & there for word in here)

    def _heads(self, place: int) -> tuple[str, ...]:
        kind, depth, parent, words = self._table.synsets[place]
        if kind != "a":
            return ()
        return self._table.synsets[parent][3] if depth else words

    def _indirect_opposite(self, ones: Set[str], others: Set[str]) -> bool:
        """One is the antonym of a synonym of the other, or of a word made from it: rapidly (quickly), slow (slowly)."""
        table = self._table

        def antonyms(some: Set[str]) -> set[str]:
            places = (place for one in some for place in table.main.get(one, ()))
            return {far for place in places for word in table.synsets[place][3] for far in table.antonyms.get(word, ())}

        for here, there in ((ones, others), (others, ones)):
            far = antonyms(here)
            families = {table.family[word] for word in far if word in table.family}
            if far & there or any(table.family.get(word) in families for word in there):
                return True
        return False

    def _sisters(self, one: str, other: str) -> bool:
        """Things of one kind: nouns directly below the same one, and nothing so general that it may stand for more."""
        table = self._table

        def parents(word: str) -> set[int]:
            singular = [base for base in self.forms(word) if base == word or word.endswith("s") or base.endswith("man")]
            places = [place for base in singular for place in table.main.get(base, ())]
            return {table.synsets[place][2] for place in places if self._is_thing(place)}

        return bool(parents(one) & parents(other)) and not self._is_general(other)

    def _is_thing(self, place: int) -> bool:
        """Whether a synset is of a kind whose sisters are different things: among deeds or ideas they mean the same."""
        kind, depth, *_ = self._table.synsets[place]
        return kind == "n" and depth > _LOW and any(
            not _KINDS.isdisjoint(self._table.synsets[above][3]) for above in self._table.above(place, _DEEPEST)
        )  # fmt: skip

    def _is_general(self, word: str) -> bool:
        places = (place for base in self.forms(word) for place in self._table.main.get(base, ()))
        return any(self._below(place) >= _GENERAL for place in places)

    def _below(self, place: int) -> int:
        """How many synsets stand under one, counted up to where it does not matter any more."""
        depth = self._table.synsets[place][1]
        for more in range(1, _GENERAL + 1):
            if place + more >= len(self._table.synsets) or self._table.synsets[place + more][1] <= depth:
                return more - 1
        return _GENERAL


def _parsed(cells: list[str]) -> list[str]:
    if len(cells) < 2:
        raise ValueError
    return cells


def _contrasts() -> dict[str, list[tuple[str, int, int]]]:
    """phrase → (reason, line, place in it) of each contrast it is part of."""
    found = defaultdict(list)
    lines = ((reason, line) for reason, text in CONTRASTS.items() for line in text.split(";"))
    for number, (reason, line) in enumerate(lines):
        for cell, phrases in enumerate(line.split("|")):
            for phrase in phrases.split():
                found[phrase.replace("_", " ")].append((reason, number, cell))
    return dict(found)


def _negated(phrase: str, target: str, ones: Set[str], others: Set[str]) -> str | None:
    """A negation on one side only, where the other has none in its meaning: lacks, does not have."""
    here, there = (any(is_negation(word) and word not in _SOFT for word in text.split()) for text in (phrase, target))
    if ones & _DENIALS and not there and not any(_is_negative(word) for text in others for word in text.split()):
        return "a negation less"
    if here == there:
        return None
    plain = ones if there else others
    hidden = any(_is_negative(word) for text in plain for word in text.split())
    return None if hidden else "a negation more" if there else "a negation less"


def _is_negative(word: str) -> bool:
    if word in _IS_NO_NEGATIVE:
        return False
    return word in _NEGATIVE_WORDS or word.endswith("less") or word.startswith(_NEGATIVE)


def _core(phrase: str, target: str) -> tuple[str, str]:
    """Both without the words they begin and end with alike: unable to, able to → unable, able."""
    one, other = phrase.split(), target.split()
    while len(one) > 1 and len(other) > 1 and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    while len(one) > 1 and len(other) > 1 and one[0] == other[0]:
        one, other = one[1:], other[1:]
    return " ".join(one), " ".join(other)


def _looks_alike(one: str, other: str, ones: Set[str], others: Set[str]) -> bool:
    """Close in spelling, and neither another spelling nor a form of the other."""
    if min(len(one), len(other)) < _SHORT or not (one.isalpha() and other.isalpha()):
        return False
    if {_spelling(word) for word in ones} & {_spelling(word) for word in others} or _derived(one, other):
        return False
    return any(
        _distance(here, there) <= min(_UNLIKE_LONG, _UNLIKE * max(len(here), len(there)))
        for here in ones for there in others if min(len(here), len(there)) >= _SHORT
    )  # fmt: skip


def _derived(one: str, other: str) -> bool:
    """Whether two words are one stem with two endings, or one has a prefix that leaves its meaning whole."""
    stem = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if stem >= _STEM and one[stem:] in _SUFFIXES and other[stem:] in _SUFFIXES:
        return True
    return any(one.removeprefix(prefix) in (other, f"-{other}") for prefix in _PREFIXES if one.startswith(prefix))


@lru_cache(65_536)
def same_spelling(phrase: str, target: str) -> bool:
    """Whether two are one word, as it is written in Britain and in America."""
    return _spelling(phrase.lower()) == _spelling(target.lower())


def _spelling(word: str) -> str:
    word = "".join(letter for letter in normalize("NFD", word) if not combining(letter))
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    return word


def _distance(one: str, other: str) -> int:
    """Letters put in, left out or changed, at least."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        before, row[0] = row[0], place
        for at, its in enumerate(other, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (letter != its))
    return row[-1]
