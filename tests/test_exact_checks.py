"""Exact checks: alterations that must be found, and correct simplifications that must pass, rule by rule."""

import pytest

from redraft.check.exact_checks import findings
from redraft.check.rules.rule_types import Finding
from redraft.plan.phrases import find_spans

# Rule → (source, output, the kind that is found, or None where nothing may be found).
CASES = {
    "negation": [
        ("Do not smoke.", "Smoke.", "negation"),
        ("Please refrain from smoking.", "Please smoke.", "negation"),
        ("Please refrain from smoking.", "Please do not smoke.", None),
        ("You must refrain from smoking.", "You must not smoke.", None),
        ("The water is safe.", "The water is unsafe.", "negation"),
        ("The water is unsafe.", "The water is safe.", "negation"),
        ("The water is unsafe.", "The water is not safe.", None),
        ("The food was not unsafe.", "The food was safe.", None),
        ("He can swim.", "He cannot swim.", "negation"),
        ("He cannot come.", "He can't come.", None),
        ("He didn't come.", "He did come.", "negation"),
        ("He won't come.", "He will not come.", None),
        ("Smoking is prohibited.", "Smoking is not allowed.", None),
        ("Hunting is illegal.", "Hunting is against the law.", None),
        ("It is not illegal.", "It is legal.", None),
        ("It is not illegal.", "It is illegal.", "negation"),
        ("You may leave unless you are ill.", "You may leave if you are ill.", "negation"),
        ("Do not enter unless invited.", "Enter only if you are invited.", None),
        ("He did not fail to notice.", "He noticed.", None),
        ("He did not stop.", "He stopped.", "negation"),
        ("Work did not begin until 1990.", "Work began in 1990.", None),
        ("Neither Tom nor Ann came.", "Tom and Ann did not come.", None),
        ("He had no bread and no water.", "He had no bread or water.", None),
        ("He did not eat and did not drink.", "He did not eat and drank.", "negation"),
        ("The doors were absent.", "The doors were not present.", None),
        ("Homeless people slept there.", "People with no home slept there.", None),
        ("The evidence was insufficient.", "There was not enough evidence.", None),
        ("He was found not guilty.", "He was found innocent.", None),
        ("Cook it without oil.", "Cook it with oil.", "negation"),
        ("The war ceased in 1945.", "The war ended in 1945.", None),
        ("He is not only rich but also kind.", "He is rich and kind.", None),
    ],
    "number": [
        ("He has twelve cats.", "He has 12 cats.", None),
        ("He has twelve cats.", "He has 13 cats.", "number"),
        ("Bring two hundred and fifty chairs.", "Bring 250 chairs.", None),
        ("It has between two hundred and three hundred seats.", "It has 200 to 300 seats.", None),
        ("About 2.5 million people live there.", "About 2,500,000 people live there.", None),
        ("Three and a half million people live there.", "3.5 million people live there.", None),
        ("It cost $5 million.", "It cost $5 billion.", "number"),
        ("The £5m bridge opened.", "The 5 million pound bridge opened.", None),
        ("He was born in 1990.", "He was born.", "number"),
        ("Take one tablet.", "Take two tablets.", "number"),
        ("Both birds died.", "The two birds died.", None),
        ("He came third.", "He came second.", "number"),
        ("World War II ended in 1945.", "The Second World War ended in 1945.", None),
        ("It was built in the 19th century.", "It was built in the 1800s.", None),
        ("It was built in the 19th century.", "It was built in the 1900s.", "number"),
        ("Half of the people voted.", "50 % of the people voted.", None),
        ("Half of the people voted.", "60 % of the people voted.", "number"),
        ("One in five people agree.", "20 % of people agree.", None),
        ("Three quarters of the people came.", "75 % of the people came.", None),
        ("The eighteen-year-old won.", "The 18-year-old won.", None),
        ("In the 2019-20 season he won.", "In the 2019/2020 season he won.", None),
        ("The meeting starts at 17:00.", "The meeting starts at 5 p.m.", None),
        ("The meeting starts at 5 pm.", "The meeting starts at 6 pm.", "number"),
    ],
    "unit": [
        ("He ran 5 km.", "He ran 5 kilometers.", None),
        ("He ran 5 km.", "He ran 5 miles.", "unit"),
        ("It weighs 5kg.", "It weighs 5 kilograms.", None),
        ("It weighs 5kg.", "It weighs 5 pounds.", "unit"),
        ("It rose by 5 per cent.", "It rose by 5%.", None),
        ("It rose by 5 percent.", "It rose by 5 percentage points.", "unit"),
        ("It was 20 °C.", "It was 20 degrees Celsius.", None),
        ("It was 20 °C.", "It was 20 °F.", "unit"),
        ("It starts at 5 am.", "It starts at 5 pm.", "unit"),
        ("He stayed a fortnight.", "He stayed two weeks.", None),
        ("He stayed a fortnight.", "He stayed three weeks.", "number"),
        ("The trip takes 30 minutes.", "The trip takes half an hour.", None),
        ("For two decades he taught.", "He taught for 20 years.", None),
        ("The road is 1.5 km long.", "The road is 1500 metres long.", None),
        ("The road is 1.5 km long.", "The road is 150 metres long.", "number"),
        ("It is 5 miles (8 km) long.", "It is 5 miles long.", None),
        ("It is 100 km long.", "It is 102 km long.", "number"),
    ],
    "date": [
        ("We meet on Monday.", "We meet on Tuesday.", "date"),
        ("We meet on Mon 5 May.", "We meet on Monday 5 May.", None),
        ("It opened on 5 May.", "It opened on 5 June.", "date"),
        ("It opened on 3 May 2020.", "It opened on 03/05/2020.", None),
        ("It opened on 2020-05-03.", "It opened on May 3, 2020.", None),
        ("We meet on Monday in Rome.", "We meet in Rome.", "date lost"),
        ("We meet in Rome.", "We meet on Monday in Rome.", "date added"),
    ],
    "name": [
        ("He lives in Paris.", "He lives in London.", "name"),
        ("Obama won the vote.", "Biden won the vote.", "name"),
        ("French troops arrived.", "German troops arrived.", "name"),
        ("French troops arrived.", "Troops from France arrived.", None),
        ("He met Merkel in Paris.", "He met Merkel.", "name lost"),
        ("He met Merkel.", "He met Merkel in Paris.", "name added"),
        ("The World Health Organization (WHO) said so.", "The WHO said so.", None),
        ("The WHO said so.", "The World Health Organization said so.", None),
        ("The WHO said so.", "The UN said so.", "name"),
        ("The United States left.", "The U.S. left.", None),
        ("The UK left the European Union.", "Britain left the EU.", None),
        ("Magnetic resonance imaging is used.", "MRI is used.", None),
        ("Mr Smith left Paris.", "Smith left Paris.", None),
        ("He lives in São Paulo.", "He lives in Sao Paulo.", None),
        ("The Labour Organisation met in Paris.", "The Labor Organization met in Paris.", None),
        ("He left. Later he came back to Rome.", "He left, and then he came back to Rome.", None),
    ],
    "amount": [
        ("It costs $5.", "It costs £5.", "amount"),
        ("It costs $5.", "It costs 5.", "amount"),
        ("It costs $5.", "It costs 5 euros.", "amount"),
        ("It cost $5 million.", "It cost 5 million dollars.", None),
        ("He earns US$20.", "He earns $20.", None),
    ],
    "quantifier": [
        ("All children came.", "Some children came.", "quantifier"),
        ("All children get a book.", "Every child gets a book.", None),
        ("The majority of people agree.", "Most people agree.", None),
        ("Many people came.", "Few people came.", "quantifier"),
        ("Few people came.", "Not many people came.", None),
        ("Almost all of them came.", "Most of them came.", None),
        ("It often rains.", "It always rains.", "quantifier"),
        ("It occurs frequently.", "It often happens.", None),
        ("He rarely smokes.", "He does not often smoke.", None),
        ("Call if any of these occur.", "Call if all of these occur.", "quantifier"),
        ("If you have any questions, call us.", "If you have some questions, call us.", None),
        ("Only adults may enter.", "Adults may enter.", "quantifier"),
        ("Adults may enter.", "Only adults may enter.", "quantifier"),
        ("It is solely for adults.", "It is only for adults.", None),
        ("It is the most important city of all.", "It is a very important city.", None),
    ],
    "bound": [
        ("At least 30 people came.", "At most 30 people came.", "bound"),
        ("There were no fewer than 30 people.", "There were at least 30 people.", None),
        ("About 300 people came.", "300 people came.", "bound"),
        ("Some 300 people came.", "About 300 people came.", None),
        ("Exactly 30 people came.", "30 people came.", None),
        ("300 people came.", "More than 300 people came.", "bound"),
        ("More than 300 people came.", "Over 300 people came.", None),
        ("You must be 18 or older.", "You must be at least 18.", None),
        ("You must be 18 or older.", "You must be under 18.", "bound"),
        ("People over the age of 18 can vote.", "People over 18 can vote.", None),
        ("The load must not exceed 30 kg.", "The load must be 30 kg or less.", None),
        ("The load must not exceed 30 kg.", "The load must exceed 30 kg.", "bound"),
        ("The fine cannot be more than 500 dollars.", "The fine is at most 500 dollars.", None),
        ("It costs at least $30.", "It costs at least 30 dollars.", None),
        ("Pay prior to 5 May.", "Pay before 5 May.", None),
        ("Pay before 5 May.", "Pay after 5 May.", "bound"),
        ("Since 1990 he has lived here.", "Until 1990 he lived here.", "bound"),
        ("He worked over 3 years.", "He worked for 3 years.", None),
    ],
    "modality": [
        ("You must sign.", "You may sign.", "modality"),
        ("You are required to sign the form.", "You must sign the form.", None),
        ("You must sign the form.", "Sign the form.", None),
        ("The company must pay.", "The company pays.", "modality lost"),
        ("The court shall decide.", "The court will decide.", None),
        ("You should rest.", "You must rest.", "modality"),
        ("You should rest.", "We recommend that you rest.", None),
        ("You should not smoke.", "Do not smoke.", None),
        ("It may rain.", "It might rain.", None),
        ("It may rain.", "It rains.", "modality lost"),
        ("It rains.", "It may rain.", "modality added"),
        ("It can rain.", "It will rain.", "modality"),
        ("Bees can fly.", "Bees fly.", None),
        ("He is unable to come.", "He cannot come.", None),
        ("She was unable to attend the meeting.", "She could not attend the meeting.", None),
        ("You may not enter.", "You must not enter.", None),
        ("You must not enter.", "You do not have to enter.", "modality"),
        ("There is no need to register.", "You do not have to register.", None),
        ("No person shall be deprived of liberty.", "Nobody may be locked up.", None),
        ("He is allegedly a spy.", "He is a spy.", "modality lost"),
        ("He was allegedly a spy.", "People say he was a spy.", None),
        ("In May 1990 he left.", "He left in May 1990.", None),
    ],
    "person": [
        ("He left early.", "She left early.", "person"),
        ("You can call us.", "You can call me.", "person"),
        ('"I won," said Tom.', "Tom said he won.", None),
        ("The US army came to him.", "The army of the US came to him.", None),
        ("King Charles I died.", "He died as King Charles I.", None),
    ],
    "question": [
        ("Is he ill?", "He is ill.", "question"),
        ("He is ill.", "Is he ill?", "question"),
        ("He asked: why was he ill?", "He asked why he was ill.", None),
    ],
    "roles": [
        ("The dog bit the man.", "The man bit the dog.", "roles"),
        ("The dog bit the man.", "The man was bitten by the dog.", None),
        ("The teacher praised the student.", "The teacher was praised by the student.", "roles"),
        ("The king was killed by the queen.", "The queen was killed by the king.", "roles"),
        ("The novel was written by Jane Austen.", "Jane Austen wrote the novel.", None),
        ("Tom gave Ann the book.", "Ann was given the book by Tom.", None),
        ("Tom is taller than Ann.", "Ann is taller than Tom.", "roles"),
        ("Tom married Ann.", "Ann married Tom.", None),
        ("In Paris, Tom met Ann.", "Tom met Ann in Paris.", None),
    ],
    "other word": [
        ("He bought a house.", "He sold a house.", "other word"),
        ("Prices increased.", "Prices decreased.", "other word"),
        ("The principle is clear.", "The principal is clear.", "other word"),
        ("They eat almonds.", "They eat walnuts.", "other word"),
        ("He eats before lunch.", "He eats after lunch.", "other word"),
        ("The works commence in June.", "The works start in June.", None),
        ("He assisted numerous individuals.", "He helped many people.", None),
        ("The colour of the centre is grey.", "The color of the center is gray.", None),
        ("They organised a labour programme.", "They organized a labor program.", None),
        ("The gallery is closed on Mondays.", "The gallery is not open on Mondays.", None),
        ("He stayed, though he was ill.", "He stayed, although he was ill.", None),
    ],
}
ROWS = [
    pytest.param(*case, id=f"{rule}-{number}") for rule, cases in CASES.items() for number, case in enumerate(cases, 1)
]
ODD_TEXTS = [
    "",
    "?",
    "- -- -5 +",
    "½ ² ٣ Ⅳ",
    "10:30:15 1.2.3 1,2,3",
    "'t n't ’t",
    "NOT A WORD IN LOWER CASE",
    "and a half",
]


@pytest.mark.parametrize("source, output, kind", ROWS)
def test_rule(source, output, kind):
    found = findings(source, output)
    if kind is None:
        assert found == []
    else:
        assert kind in [finding.kind for finding in found]


@pytest.mark.parametrize("source, output, kind", [row for row in ROWS if row.values[2]])
def test_the_words_of_a_finding_are_in_the_texts(source, output, kind):
    for finding in findings(source, output):
        assert finding.source or finding.output
        assert all(find_spans(source.lower(), [phrase.lower()]) for phrase in finding.source)
        assert all(find_spans(output.lower(), [phrase.lower()]) for phrase in finding.output)


@pytest.mark.parametrize("text", [case[0] for cases in CASES.values() for case in cases] + ODD_TEXTS)
def test_nothing_is_found_in_the_same_text(text):
    assert findings(text, f"  {text}\n") == []


@pytest.mark.parametrize("output", ODD_TEXTS)
@pytest.mark.parametrize("source", ODD_TEXTS)
def test_unusual_texts_are_accepted(source, output):
    assert findings(source, output) == findings(source, output)


@pytest.mark.parametrize(
    "source, output, expected",
    [
        ("I don't eat meat.", "I eat meat.", Finding("negation", ("don't",), (), "the output lacks “don't”")),
        ("He has 12 cats.", "He has 13 cats.", Finding("number", ("12",), ("13",), "“12” became “13”")),
        ("He ran 5 km.", "He ran 5 miles.", Finding("unit", ("5 km",), ("5 miles",), "“5 km” became “5 miles”")),
        ("It is his.", "It is hers.", Finding("person", ("his",), ("hers",), "“his” became “hers”")),
        ("Is he ill?", "He is ill.", Finding("question", ("?",), (), "the question became a statement")),
        (
            "He bought a house.",
            "He sold a house.",
            Finding("other word", ("bought",), ("sold",), "“bought” became “sold”: the other direction"),
        ),
    ],
)
def test_a_finding_names_both_sides_and_the_reason(source, output, expected):
    assert expected in findings(source, output)


@pytest.mark.parametrize(
    "output, stays, lost",
    [
        ("The doctor saw her.", ["physician"], ["physician"]),
        ("The Physician saw her.", ["physician"], []),
        ("The physicians saw her.", ["physician"], ["physician"]),
        ("The doctor saw her.", ["nurse"], []),  # the source does not have it
        ("The doctor met her.", ["physician", "saw"], ["physician", "saw"]),
    ],
)
def test_words_to_keep(output, stays, lost):
    found = [
        finding for finding in findings("The physician saw her.", output, stays=stays) if finding.kind == "must stay"
    ]
    assert [finding.source for finding in found] == [(phrase,) for phrase in lost]
