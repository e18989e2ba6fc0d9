"""Corruptions: they change the meaning, mark the words to blame, and depend only on the seed."""

import random

import pytest

from redraft.fit.checker.corruptions import Corruptor
from redraft.plan.planner import Planner
from redraft.text.words import normalise, split_words

KINDS = (
    "opposite", "contrast", "sister", "look-alike", "refused", "judged wrong", "roles", "name", "number",
    "negation added", "negation removed", "modality", "quantifier", "condition lost", "clause from elsewhere",
    "other word",
)  # fmt: skip
TEXTS = """
All visitors must leave the building before 6 pm, unless they have a special permit.
The doctor treated the patient with a new drug, but the symptoms did not improve.
In 1995 the company bought a large factory in Germany and sold it to Siemens two years later.
The old bridge was destroyed by the army during the war, although many people protested.
At least 30 children were injured when the bus hit a wall near Madrid.
You should not drink alcohol while you are taking this medicine.
The president of France met the leader of Spain in Paris on Monday.
Most of the students can read and write, and several speak three languages.
If the temperature falls below zero, the water in the pipes may freeze.
The principal of the school said that every teacher will receive a higher salary.
The river is never deep in summer, because very little rain falls in the region.
He was able to increase the price of bread without any warning.
The king gave the island to his brother, who built a strong castle there.
Neither the police nor the court could explain the cause of the accident.
She often travels to London by train, but she rarely visits the museum.
The new law allows farmers to export apples, carrots and potatoes to Japan.
Only five members of the council voted for the proposal in March.
The patient was not allowed to eat or sleep until the test was over.
Some animals hide food in autumn and use it when winter comes.
The city of Hamburg has a famous port, and about 200 ships arrive there each day.
The desert is hot during the day and cold at night.
Nobody knew that the wealthy merchant had lost his ship.
The committee approved the request after a long discussion about the costs.
Smith wrote his first novel in Rome, while Johnson painted in Vienna.
The price of oil will rise if the war in the north continues.
Doctors advise parents to keep dangerous medicines away from children.
The small village is located in the south of Norway, close to the sea.
""".strip().splitlines()
SENTENCES = [tuple(word.text for word in split_words(text)) for text in TEXTS]
SEEDS = range(5)


@pytest.fixture(scope="module")
def corruptor():
    planner = Planner.load(device="cpu")
    tables = planner.classifier.tables
    vocabulary = {word for sentence in SENTENCES for word in sentence if word.islower()}
    vocabulary |= {"cattle", "pride", "wafer", "coats"}  # castle, price, water, costs
    return Corruptor(planner.guard, tables.word_frequency, tables.lexicon, planner.reviewed, vocabulary, SENTENCES)


def made_of(corruptor, kind):
    """Pairs of a sentence and its corruption, of all sentences that have a place for it, with several seeds."""
    made = ((words, corruptor.make(kind, words, random.Random(seed))) for words in SENTENCES for seed in SEEDS)
    return [(words, corruption) for words, corruption in made if corruption]


def plain(words, left_out=()):
    return [normalise(word) for at, word in enumerate(words) if at not in left_out]


def words_of(text):
    return tuple(word.text for word in split_words(text))


def test_kinds(corruptor):
    assert corruptor.kinds == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_makes_texts_that_differ(corruptor, kind):
    made = made_of(corruptor, kind)
    assert made
    for words, corruption in made:
        assert corruption.kind == kind
        assert plain(corruption.words) != plain(words)
        assert corruption.wrong or corruption.lost


@pytest.mark.parametrize("kind", KINDS)
def test_marked_places_are_the_changed_words(corruptor, kind):
    for words, corruption in made_of(corruptor, kind):
        assert corruption.wrong <= set(range(len(corruption.words)))
        assert corruption.lost <= set(range(len(words)))
        kept, before = plain(corruption.words, corruption.wrong), plain(words, corruption.lost)
        if kind == "clause from elsewhere" and not corruption.lost:
            glue = min(corruption.wrong) - 1  # a comma, "and" or a full stop before the clause
            assert normalise(corruption.words[glue]) in (",", "and", ".")
            del kept[glue]
        assert kept == before


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_makes_the_same(corruptor, kind):
    for words in SENTENCES:
        assert corruptor.make(kind, words, random.Random(7)) == corruptor.make(kind, words, random.Random(7))


def test_the_capital_at_the_start_is_kept(corruptor):
    for kind in KINDS:
        for words, corruption in made_of(corruptor, kind):
            assert corruption.words[0][0].isupper() == words[0][0].isupper()


@pytest.mark.parametrize(
    "kind, text, expected",
    [
        ("negation removed", "He did not sleep.", {"He did sleep."}),
        ("negation removed", "Cook it without oil.", {"Cook it with oil."}),
        ("negation removed", "Nobody came.", {"Everybody came."}),
        ("negation removed", "Never smoke here.", {"Smoke here."}),
        ("negation added", "It is cold.", {"It is not cold.", "It is never cold.", "It is no longer cold.",
                                           "It is hardly cold."}),
        ("roles", "We saw Ann before Tom.", {"We saw Tom before Ann."}),
        ("roles", "Then the dog was seen by the man.", {"Then the man was seen by the dog."}),
        ("condition lost", "If it rains, we stay at home all day.", {"We stay at home all day."}),
        ("condition lost", "We stay at home all day, if it rains.", {"We stay at home all day."}),
        ("quantifier", "Only adults came.", {"Also adults came."}),
        ("quantifier", "At least 30 came.", {"At most 30 came.", "About 30 came.", "Exactly 30 came.", "Up to 30 came.",
                                             "Over 30 came.", "Approximately 30 came."}),
    ],
)  # fmt: skip
def test_made(corruptor, kind, text, expected):
    words = words_of(text)
    made = [corruptor.make(kind, words, random.Random(seed)) for seed in range(40)]
    assert {corruption.words for corruption in made if corruption} == {words_of(one) for one in expected}


@pytest.mark.parametrize(
    "kind, text",
    [
        ("opposite", "Of all these, he is the one."),
        ("contrast", "Of all these, he is the one."),
        ("sister", "Of all these, he is the one."),
        ("look-alike", "Of all these, he is the one."),
        ("refused", "Of all these, he is the one."),
        ("judged wrong", "Of all these, he is the one."),
        ("other word", "Of all these, he is the one."),
        ("roles", "We saw Ann and Tom."),  # parts of a list
        ("roles", "The dog slept."),
        ("name", "Paris is a city."),  # a capital at the start may be no name
        ("number", "He has one cat."),  # mostly a pronoun
        ("negation added", "Dogs bark."),
        ("negation removed", "Dogs bark."),
        ("modality", "Dogs bark."),
        ("quantifier", "Dogs bark."),
        ("condition lost", "Dogs bark loudly, and cats sleep in the sun."),
        ("condition lost", "If so, leave."),  # too little would be left
        ("clause from elsewhere", "Stop!"),
    ],
)
def test_sentences_that_do_not_allow_a_corruption(corruptor, kind, text):
    assert all(corruptor.make(kind, words_of(text), random.Random(seed)) is None for seed in SEEDS)


def test_any_kind(corruptor):
    made = [(words, corruptor.any(words, random.Random(seed))) for seed, words in enumerate(SENTENCES * 5)]
    assert all(corruption and plain(corruption.words) != plain(words) for words, corruption in made)
    assert len({corruption.kind for _, corruption in made}) > len(KINDS) / 2
    assert corruptor.any(("Oh", "!"), random.Random(0)) is None
    assert corruptor.any((), random.Random(0)) is None


def test_a_number_becomes_another(corruptor):
    for words, corruption in made_of(corruptor, "number"):
        (place,) = corruption.wrong
        assert corruption.lost == {place}
        assert corruption.words[place].lower() != words[place].lower()


def test_a_name_comes_from_another_sentence(corruptor):
    names = {word for sentence in SENTENCES for word in sentence[1:] if word[0].isupper()}
    for words, corruption in made_of(corruptor, "name"):
        (place,) = corruption.wrong
        assert corruption.words[place] in names - {*words}
