"""Word lists of the target guard: contrasts, negations, affixes, spellings and fixed terms."""

from __future__ import annotations

# Reason → contrasts, separated by semicolons. Words on different sides of a bar must not replace each other.
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
# Prefixes that negate a word.
NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "non-", "mis", "de")
# Pairs of prefixes with opposite meanings.
_AFFIX_PAIRS = """
hyper hypo | pre post | ante post | over under | inter intra | macro micro | in ex | im ex | inter exter | pro anti |
in de | en dis | as de | out in | up down | fore back | sub super | endo exo | homo hetero | multi mono | poly mono |
maxi mini | bene male | uni multi | mono bi | bi tri | intro extro | emi immi | e im | in out | under over | epi hypo |
eu dys | brady tachy | neo paleo | inner outer
"""
OPPOSED_AFFIXES = tuple(tuple(pair.split()) for pair in _AFFIX_PAIRS.split("|"))
# Words that start with a negative prefix, or pairs of words that differ by one, without being opposites.
_NOT_NEGATED_LIST = """
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
NOT_NEGATED = frozenset(_NOT_NEGATED_LIST.split())
# Words with a negation in their meaning.
_NEGATIVE_WORD_LIST = """
lack lacks lacked lacking absent absence refuse refused refuses reject rejected fail failed fails failing deny denied
rare rarely seldom except exclude excluded excluding avoid avoided prevent prevented forbid forbidden prohibit
prohibited banned ban few little free devoid minus exempt stop stopped missing wrong false scarce scarcely barely hardly
neither nor cease ceased abstain abstained omit omitted decline declined neglect neglected extinct dead invisible
different blind resent object oppose bar reluctant poorly hate against rather instead whether unlike discourage refrain
restrain hinder escape miss keep block halt end lose give skip drop turn dismiss resist shun evade dodge contradict
dispute leave void null ignore clear away off out from bad badly poor difficult trouble problem defeat rid loss
need want remove delete rejection refusal exception exemption abstention abandon failure error mistake chorus song trash
"""
NEGATIVE_WORDS = frozenset(_NEGATIVE_WORD_LIST.split())
# Replacing one of these by a word without a negation reverses the meaning: deny, say.
_DENIAL_LIST = """
deny avoid prevent refuse reject fail lack discourage forbid prohibit exclude omit neglect abstain refrain
unsuccessfully unsuccessful failure refusal denial avoidance prevention rejection prohibition exclusion inability
"""
DENIALS = frozenset(_DENIAL_LIST.split())
PARTIAL_NEGATIONS = frozenset({"hardly", "barely", "scarcely", "rarely", "seldom"})  # only partly negative
FORMAL_ENDINGS = ("ic", "al", "ous", "ar", "ly")  # a- negates words with these endings: atypical, asymptomatic
NOUN_ENDINGS = (
    "ity", "ence", "ance", "ness", "tion", "sion", "ency", "ancy", "ice", "ment", "tude", "ure", "ty", "ion",
)  # fmt: skip
# Ending of an inflected form, ending of its base form.
INFLECTION_RULES = (
    ("ies", "y"), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("es", "e"),
    ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("ier", "y"),
    ("iest", "y"), ("er", "e"), ("er", ""), ("est", "e"), ("est", ""),
)  # fmt: skip
# British and American spellings.
SPELLING_VARIANTS = (
    ("ice", "ise"), ("isation", "ization"), ("ising", "izing"), ("ised", "ized"), ("ises", "izes"), ("ise", "ize"),
    ("yse", "yze"), ("our", "or"), ("aeo", "eo"), ("ae", "e"), ("oe", "e"), ("ll", "l"), ("tre", "ter"), ("ogue", "og"),
    ("ence", "ense"), ("ph", "f"), ("mme", "m"), ("grey", "gray"), ("dgement", "dgment"), ("que", "ck"),
    ("pp", "p"), ("ss", "s"),
)  # fmt: skip
# Kinds whose members are different things: under other hypernyms (acts, ideas), coordinate terms are near-synonyms.
_KIND_LIST = """
animal plant food substance garment clothing weapon vehicle fabric furniture drug disease sport relative musician
performer athlete scientist mineral metal vegetable fruit beverage tree insect bird fish mammal polygon color colour
organ meal alloy
"""
CONCRETE_KINDS = frozenset(_KIND_LIST.split())
# Verbs that mean little without an object, and the words that they may replace although WordNet does not relate them.
_VAGUE_VERBS = {
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
# Words for nearly everything, and the words that they may replace: in WordNet they are hypernyms of too many others.
_GENERAL_WORDS = {
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
# Fixed terms that WordNet lacks; single words of a term are not replaced.
_TERM_LIST = """
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
FIXED_TERMS = tuple(" ".join(_TERM_LIST.split()).split("; "))
REPLACED_BY_VAGUE_VERB = {verb: frozenset(others.split()) for verb, others in _VAGUE_VERBS.items()}
REPLACED_BY_GENERAL_WORD = {word: frozenset(others.split()) for word, others in _GENERAL_WORDS.items()}
NOT_OPPOSITE = frozenset({("come", "go"), ("go", "come")})
NEUTRAL_PREFIXES = (
    "re",
    "co",
    "bio",
    "micro",
    "mini",
    "self",
    "pre",
    "sub",
)  # without one, a word is only less specific
# Endings with which one stem forms different words.
_SUFFIX_LIST = """
s e es ed ing er ers or ors ion ions al als ally ic ics ical ically ive ives ively ity ities y ies ly ment ments ness
ous ously able ible ance ances ence ences ant ants ent ents ation ations ism ist ists ize ise ary ery ory ate ates ated
acy acies cy cies man men
"""
DERIVATIONAL_SUFFIXES = frozenset(_SUFFIX_LIST.split()) | {""}
