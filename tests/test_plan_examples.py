"""Training examples for reading plans: which edits are in the plan, replaced words, and valid targets."""

from __future__ import annotations

import random

import pytest

from redraft import Edit, EditPlan
from redraft.align.links import parse_links
from redraft.align.sentence_pairs import SentencePair
from redraft.align.trained_aligner import TrainedAligner
from redraft.fit.linked_pairs import LinkedPair
from redraft.fit.rewriter.plan_examples import SHARES, PlanExample, PlanSampler, can_join, joined, strength_of
from redraft.plan.complexity_ratio import ComplexityRatios
from redraft.plan.edits import fold_phrase
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.marked_source import PLACEHOLDERS, mark
from redraft.plan.verdicts import judge
from redraft.text.word_frequency import WordFrequency, WordStatistics

SEEDS = range(150)


def linked(source: str, target: str, links: str | None = None) -> LinkedPair:
    """Without links, words are linked in order."""
    pair = SentencePair.of(source, target)
    in_order = " ".join(f"{n}-{n}" for n in range(min(len(pair.source_words), len(pair.target_words))))
    return LinkedPair("made", pair, parse_links(in_order if links is None else links))


def sampler(much: str | None = None, *, bare_splits: bool = False, **targets: str) -> PlanSampler:
    """A sampler for one kind of plan; `targets` is the lexicon: physician="doctor,medic"."""
    entries = {word: Entry(9, 0, 9, tuple((text, 0.3) for text in texts.split(","))) for word, texts in targets.items()}
    common = WordFrequency(dict.fromkeys(["the", "treated", "people", "town", "doctor"], WordStatistics(5.0)))
    sides = ComplexityRatios({"physician": 1.0, "treated": -1.0})
    shares = SHARES if much is None else {much: 1.0}
    return PlanSampler(Lexicon(entries), common, sides, shares, bare_splits)


def drawn(one: LinkedPair, much: str | None = None, **more: object) -> list[PlanExample]:
    drawing = sampler(much, **more)  # type: ignore[arg-type]
    return [drawing.example(one, random.Random(seed)) for seed in SEEDS]


def named(example: PlanExample, kind: str) -> list[str]:
    return [edit.phrase for edit in example.plan.edits if edit.kind == kind]


def plain(examples: list[PlanExample]) -> list[PlanExample]:
    """Those without placeholders."""
    return [example for example in examples if not any(sign in example.target for sign in PLACEHOLDERS)]


# How much of the plan is included

TOWN = linked(
    "The zymologist treated the people of the town in 1999 .",
    "The zymologist treated people in the town in 1999 .",
    "0-0 1-1 2-2 3-3 4-3 5-4 6-5 7-6 8-7 9-8 10-9",
)


def test_rare_words_and_numbers_are_marked_as_kept() -> None:
    for example in plain(drawn(TOWN, "rare")):
        assert [(edit.kind, edit.phrase) for edit in example.plan.edits] == [
            ("insert", "zymologist"), ("insert", "1999"),
        ]  # fmt: skip


PHYSICIAN = linked("The old physician treated the people .", "The doctor treated people .", "0-0 2-1 3-2 5-3 6-4")


@pytest.mark.parametrize(
    "much, edits",
    [
        ("bare", []),
        ("strength", []),
        ("thin", [("substitute", "physician"), ("insert", "treated")]),
        ("content", [("delete", "old"), ("substitute", "physician"), ("insert", "treated"), ("insert", "people")]),
    ],
)
def test_how_much_of_the_plan_is_included(much: str, edits: list[tuple[str, str]]) -> None:
    for example in plain(drawn(PHYSICIAN, much)):
        assert [(edit.kind, edit.phrase) for edit in example.plan.edits] == edits
        assert example.plan.strength in ({"bare": [None], "strength": ["strong"]}.get(much) or [None, "strong"])


def test_edits_of_all_words_and_of_random_words() -> None:
    assert {len(example.plan.edits) for example in plain(drawn(PHYSICIAN, "all"))} == {7}
    assert {len(example.plan.edits) for example in plain(drawn(PHYSICIAN, "random"))} >= {0, 1, 3, 5}


def test_at_least_a_third_has_no_marks() -> None:
    examples = drawn(PHYSICIAN)
    bare = sum(mark(example.plan) == (example.plan.source,) for example in examples)
    assert SHARES["bare"] >= 1 / 3
    assert len(examples) / 3 <= bare < 0.8 * len(examples)


# Targets


def test_of_several_targets_one_is_in_the_text() -> None:
    sizes = set()
    for example in drawn(PHYSICIAN, "content", physician="doctor,medic,healer,leech"):
        (edit,) = [edit for edit in example.plan.edits if edit.phrase == "physician"]
        sizes.add(len(edit.targets))
        assert example.target.split()[1] in edit.targets
        assert len(set(edit.targets)) == len(edit.targets)
    assert sizes == {1, 2, 3}


def test_words_are_replaced_by_inflected_synonyms_in_plan_and_target() -> None:
    one = linked("The physicians treated the people .", "The doctors treated the people .")
    written = set()
    for example in drawn(one, "content", physicians="doctors,medics,healer,healers", treated="cured,heal"):
        words = example.target.split()
        by_phrase = {edit.phrase: edit.targets for edit in example.plan.edits if edit.kind == "substitute"}
        assert words[1] in by_phrase["physicians"]
        assert (words[2] == "treated") or words[2] in by_phrase["treated"]
        written |= {words[1], words[2]}
    assert written == {"doctors", "medics", "healers", "treated", "cured"}  # neither "healer" nor "heal"


def test_inserted_words_are_always_in_the_plan() -> None:
    one = linked("The people treated the town .", "The people treated the town .")
    for much in ("thin", "random"):
        examples = plain(drawn(one, much, town="village,city"))
        changed = [example for example in examples if "town" not in example.target]
        assert len(changed) > len(SEEDS) / 10
        for example in changed:
            (edit,) = [edit for edit in example.plan.edits if edit.phrase == "town"]
            assert any(target in example.target for target in edit.targets)


@pytest.mark.parametrize("other, text", [("expert", "He is an expert ."), ("family doctor", "He is a family doctor .")])
def test_a_replaced_word_has_its_article_and_may_be_a_phrase(other: str, text: str) -> None:
    one = linked("He is a physician .", "He is a doctor .")
    changed = [example for example in plain(drawn(one, "all", physician=other)) if other in example.target]
    assert changed
    for example in changed:
        assert example.target == text
        assert any(other in edit.targets for edit in example.plan.edits)
        assert ("substitute", "a") in [(edit.kind, edit.phrase) for edit in example.plan.edits] or " a " in text


def test_new_words_are_inserted_without_a_span() -> None:
    one = linked("They treated people .", "They treated sick people .", "0-0 1-1 2-3 3-4")
    added = [edit for example in drawn(one, "content") for edit in example.plan.edits if edit.span is None]
    assert set(added) == {Edit.insert("sick")}
    assert len(SEEDS) / 4 < len(added) < len(SEEDS)


# Splits

SPLIT = linked(
    "He came to the town and treated the people .",
    "He came to the town . Then he treated the people .",
    "0-0 1-1 2-2 3-3 4-4 6-8 7-9 8-10 9-11",
)


def test_splits_are_at_a_word_or_anywhere() -> None:
    plans = [example.plan for example in plain(drawn(SPLIT, "content"))]
    splits = [[edit for edit in plan.edits if edit.kind == "split"] for plan in plans]
    assert {tuple((edit.phrase, edit.span) for edit in some) for some in splits} == {
        (), (("", None),), (("and", (20, 23)),),
    }  # fmt: skip
    assert all(plan.strength == "strong" for plan, some in zip(plans, splits, strict=True) if not some)


def test_targets_without_a_plan_have_no_split_unless_bare_splits() -> None:
    assert all(named(example, "split") for example in drawn(SPLIT, "bare"))
    for example in drawn(SPLIT, "bare", bare_splits=True):
        assert example == PlanExample(EditPlan(SPLIT.pair.source), SPLIT.pair.target)


# Placeholders


def test_placeholders_replace_words_on_both_sides() -> None:
    one = linked("He met Ann Lee in Rome in 1999 .", "He saw Ann Lee in Rome in 1999 .")
    masked = [example for example in drawn(one, "all") if PLACEHOLDERS[0] in example.target]
    assert 0 < len(masked) < len(SEEDS) / 3
    for example in masked:
        signs = [sign for sign in example.plan.source if sign in PLACEHOLDERS]
        assert signs == [sign for sign in example.target if sign in PLACEHOLDERS] == [*PLACEHOLDERS[: len(signs)]]
        assert set(signs) <= set(named(example, "insert"))
        assert example.plan.source.replace("met", "saw") == example.target or "saw" not in example.target
    assert any("Ann" not in example.target and "Lee" not in example.target for example in masked)


# Valid plans


def test_a_word_kept_at_one_span_and_deleted_at_another_has_both_edits() -> None:
    one = linked("The old man sold the old car .", "The man sold the old car .", "0-0 2-1 3-2 4-3 5-4 6-5 7-6")
    both = [example for example in plain(drawn(one, "random")) if "old" in named(example, "delete")]
    assert len(both) > 10
    assert all("old" in named(example, "insert") for example in both)
    assert len({len(example.plan.edits) for example in both}) > 2


def test_words_of_the_target_without_a_link_are_not_deleted() -> None:
    one = linked("The old town and the river .", "Of the river , a town .", "5-2 6-6")
    for example in drawn(one, "all"):
        assert "town" not in named(example, "delete")
        assert "old" in named(example, "delete")


def test_two_words_that_became_one_are_kept_once() -> None:
    one = linked("A town is a town .", "A town .", "0-0 1-1 4-1 5-2")
    for example in plain(drawn(one, "all")):
        assert named(example, "insert").count("town") == 1


MADE = [
    ("The physician purchased a residence in the old town in 1999.",
     "The doctor bought a house in the old town in 1999."),
    ("Approximately 40 people resided in the village, which was destroyed in 1944.",
     "About 40 people lived in the village. It was destroyed in 1944."),
    ("The mayor, who was elected in 2010, announced that the bridge would be constructed.",
     "The mayor was elected in 2010. He said that the bridge would be built."),
    ("The large dog chased the small dog around the large garden.", "The dog chased the small dog around the garden."),
    ("A considerable number of the inhabitants fled, and the city was abandoned.",
     "Many of the people fled, and the city was left empty."),
    ("It is an important port and a centre of trade.", "It is a big port and a trade centre."),
    ("The treaty was signed by France, Britain and Spain in Paris on 3 September 1783.",
     "France, Britain and Spain signed the treaty in Paris on 3 September 1783."),
    ("Owls are nocturnal birds that feed on mice, insects and other small animals.",
     "Owls are birds that are active at night. They eat mice, insects and other small animals."),
    ("He subsequently commenced an apprenticeship with a carpenter in Vienna.",
     "Later he began to learn from a carpenter in Vienna."),
    ("The committee endeavoured to ascertain the cause of the accident.",
     "The committee tried to find out the cause of the accident."),
    ("Mozart's sister, Maria Anna, was a gifted musician, but her career ended early.",
     "Mozart's sister Maria Anna was a gifted musician. But her career ended early."),
    ("The company's headquarters are located in the north-western part of the city.",
     "The company's main office is in the north-west of the city."),
    ("The river originates in the Alps and empties into the North Sea.",
     "The river begins in the Alps and flows into the North Sea."),
    ("There were no survivors of the crash, and the cause wasn't determined.",
     "Nobody survived the crash, and the cause wasn't found."),
    ("The the museum (opened in 1901) contains a collection of paintings; admission is free.",
     "The museum opened in 1901. It has a collection of paintings. You can enter for free."),
]  # fmt: skip


@pytest.fixture(scope="module")
def made() -> list[LinkedPair]:
    """With the bundled aligner and tables."""
    pairs = [SentencePair.of(*pair) for pair in MADE]
    links = TrainedAligner.load(device="cpu").align(pair.words for pair in pairs)
    return [LinkedPair("made", *both) for both in zip(pairs, links, strict=True)]


@pytest.fixture(scope="module")
def bundled_sampler() -> PlanSampler:
    return PlanSampler.load()


def test_targets_satisfy_their_plans_and_spans_are_in_the_source(
    made: list[LinkedPair], bundled_sampler: PlanSampler
) -> None:
    asked, kinds = 0, set()
    for one in made:
        for seed in range(40):
            example = bundled_sampler.example(one, random.Random(seed), without=("bare", "strength"))
            verdicts = judge(example.plan, example.target)
            assert [verdict for verdict in verdicts if verdict.status != "satisfied"] == []
            asked += len(verdicts)
            for edit in example.plan.edits:
                kinds.add(edit.kind)
                if edit.span is not None:
                    text = example.plan.source[slice(*edit.span)]
                    assert fold_phrase(text) == fold_phrase(edit.phrase)
    assert asked > 3000
    assert kinds == {"insert", "delete", "substitute", "split"}


def test_the_same_seed_gives_the_same_example(made: list[LinkedPair], bundled_sampler: PlanSampler) -> None:
    first = [bundled_sampler.example(one, random.Random(7), without=("bare",)) for one in made]
    again = [PlanSampler.load().example(one, random.Random(7), without=("bare",)) for one in reversed(made)]
    assert first == again[::-1]
    assert first != [bundled_sampler.example(one, random.Random(8), without=("bare",)) for one in made]


# Strength and joining


@pytest.mark.parametrize(
    "target, strength",
    [
        ("The old doctor treated the people of the town .", "light"),
        ("The old doctor cured the folk of this town .", "medium"),
        ("The doctor treated people .", "strong"),
        ("The old physician treated them . They were the people of the town .", "strong"),
    ],
)
def test_strength(target: str, strength: str) -> None:
    assert strength_of("The old physician treated the people of the town .", target) == strength


def test_two_examples_are_joined_with_their_spans() -> None:
    (first, *_), (second, *_) = (plain(drawn(one, "content")) for one in (PHYSICIAN, TOWN))
    both = joined(first, second)
    assert both.plan.source == f"{PHYSICIAN.pair.source} {TOWN.pair.source}"
    assert [both.plan.source[slice(*edit.span)] for edit in both.plan.edits if edit.span] == [
        edit.phrase for edit in both.plan.edits
    ]
    assert can_join(first, second)
    without_place = PlanExample(EditPlan("A town .", (Edit.insert("sick"),)), "A sick town .")
    assert not can_join(first, without_place)
    assert not can_join(first, PlanExample(EditPlan(f"{PLACEHOLDERS[0]} .", ()), f"{PLACEHOLDERS[0]} ."))
