"""Training of the planner: counting tables, ranking targets, calibrating probabilities, predicting edits."""

import json
import lzma
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch

from redraft.align.sentence_pairs import SentencePair
from redraft.errors import ConfigError, CorpusError, ModelError, PlanError
from redraft.fit.calibration import calibrate, calibration_error, fit_logistic
from redraft.fit.linked_pairs import LinkedPair, link_pairs, read_linked
from redraft.fit.planner import classifier_training
from redraft.fit.planner.classifier_training import ClassifierTraining, held_out_position, label, without
from redraft.fit.planner.lexicon_counts import Counts, count_pairs
from redraft.fit.planner.lexicon_training import counted_lexicon, make_lexicon, read_difficulty
from redraft.fit.planner.planner_training import train_planner
from redraft.fit.planner.target_counts import Ranker, Targets, fit_ranker
from redraft.fit.tagged_pairs import TaggedPair
from redraft.fit.word_forms import agreement, forms, inflected, lemmas, siblings
from redraft.models import bundled
from redraft.plan import lexicon
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.planner import Planner
from redraft.plan.prediction import Levels
from redraft.table_files import read_rows
from redraft.text.word_frequency import WordFrequency, WordStatistics

SUBJECTS = ("the man", "a woman", "my old friend", "this child", "our teacher", "some people")
OBJECTS = ("a house", "the road", "two dogs", "a long letter", "the garden", "warm soup")
PLACES = ("in town", "at home", "by the river", "near the school")
TIMES = ("today", "last week", "in spring", "on Monday", "at noon", "after lunch", "last year")


def toy_pairs(count: int) -> list[TaggedPair]:
    """ "purchased" is always replaced by "bought", "apparently" always left out; all else stays."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        subject, thing, place, time = (str(rng.choice(words)) for words in (SUBJECTS, OBJECTS, PLACES, TIMES))
        rest = f"{thing} {place} {time} ."
        found.append(
            TaggedPair(
                "toy_pairs", True, f"{subject} apparently quietly purchased {rest}",
                f"{subject} quietly bought {rest}",
            )
        )  # fmt: skip
    return found


class ByHand:
    """An aligner that knows the toy pairs."""

    too_long = 0

    def align(self, pairs):
        for source, target in pairs:
            names = {"purchased": "bought"}
            yield frozenset(
                (at, target.index(names.get(word, word))) for at, word in enumerate(source)
                if names.get(word, word) in target
            )  # fmt: skip


def linked(pairs):
    for pair in pairs:
        split = SentencePair.of(pair.source, pair.target)
        (links,) = ByHand().align([split.words])
        yield LinkedPair(pair.tag, split, links)


def test_words_and_phrases_are_counted():
    pair = SentencePair.of("prior to it , prior to that , prior work", "before it , prior to that , work")
    links = frozenset([(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (9, 7)])
    counts = count_pairs(lambda: [LinkedPair("x", pair, links)] * 3)
    assert counts.targets["prior to"] == Counter({"before": 3})
    assert counts.seen["prior to"] == 6  # twice in each source, replaced once
    assert (counts.seen["prior"], counts.deleted["prior"]) == (6, 3)
    assert counts.replaced("prior") == 0


def test_clitics_are_counted_as_in_their_sentence():
    pair = SentencePair.of("the dog's bone", "the bone")
    counts = count_pairs(lambda: [LinkedPair("x", pair, frozenset([(0, 0), (3, 1)]))])
    assert (counts.seen["'s"], counts.deleted["'s"]) == (1, 1)
    assert "' s" not in counts.seen


def test_rare_replacements_of_phrases_are_dropped():
    pair = SentencePair.of("prior to it", "before it")
    links = frozenset([(0, 0), (1, 0), (2, 1)])
    assert not count_pairs(lambda: [LinkedPair("x", pair, links)] * 2).targets


def test_forms_by_the_dictionary():
    assert ("VERB", "begin", "VBD") in forms("began")
    assert lemmas("began") == {"began", "begin"}
    assert {"begin", "begins", "begun", "beginning"} <= {sibling.text for sibling in siblings("began")}
    assert inflected("start up", "VERB", "VB", "VBD") == "started up"
    assert inflected("xyzzy", "VERB", "VB", "VBD") is None
    assert (agreement("began", "started"), agreement("began", "house"), agreement("began", "xyzzy")) == (1, -1, 0)


COMMON = WordFrequency({
    word: WordStatistics(zipf)
    for word, zipf in {
        "start": 5.5, "started": 5.5, "starts": 5.0, "began": 5.2, "commenced": 3.9, "commence": 3.6, "commences": 3.0,
        "was": 7.0, "initiated": 3.8, "it": 7.0, "inaugurated": 3.0, "launched": 4.8, "commencing": 3.5,
    }.items()
})  # fmt: skip


def targets_of(counted, synonyms=()):
    counts = Counts(Counter({word: sum(texts.values()) for word, texts in counted.items()}), Counter(),
                    defaultdict(Counter, {word: Counter(texts) for word, texts in counted.items()}))  # fmt: skip
    return Targets(counts, dict(synonyms), COMMON)


def test_candidates_are_counted_inflected_and_synonyms():
    targets = targets_of(
        {"commenced": {"began": 5, "was": 3, "commencing": 2, "inaugurated": 1}, "commences": {"starts": 4}},
        {"commenced": {"launched", "initiated"}},
    )
    # no auxiliary, no other form of the word, nothing rarer; "starts" became "started"
    assert targets.candidates("commenced") == ["began", "initiated", "launched", "started"]
    assert targets.candidates("unknown") == []


def test_numbers_have_no_targets_and_are_no_targets():
    targets = targets_of({"dozen": {"ten": 9, "several": 1}, "several": {"two": 30}})
    assert targets.candidates("dozen") == targets.candidates("several") == []


def test_a_closed_class_word_is_a_target_where_people_write_it_often():
    targets = targets_of({"commenced": {"was": 30, "began": 20}, "launched": {"was": 3, "began": 40}})
    assert targets.candidates("commenced") == ["began", "was"]
    assert targets.candidates("launched") == ["began"]


def test_pairs_without_a_replacement_make_a_ranker_too():
    assert fit_ranker(targets_of({})).ranked("word") == []


def test_the_ranker_learns_what_people_choose():
    counted = {word: {"often": 8, "sometimes": 2} for word in ("hard", "dark", "cold", "loud", "grim")}
    common = WordFrequency({word: WordStatistics(5.0) for word in (*counted, "often", "sometimes", "never-chosen")})
    counts = targets_of(counted).counts
    targets = Targets(counts, {word: {"never-chosen"} for word in counted}, common)
    ranker = fit_ranker(targets)
    ranked = ranker.ranked("hard")
    assert [text for text, _ in ranked] == ["often", "sometimes", "never-chosen"]
    assert sum(share for _, share in ranked) == pytest.approx(ranker.coverage, rel=1e-4)
    assert ranker.coverage == 0.8  # "sometimes", counted twice, counts as noise if one of the two is hidden
    lexicon = make_lexicon(counts, ranker)
    assert lexicon.entry("hard").targets[0] == ("often", pytest.approx(ranked[0][1]))
    assert lexicon.entry("hard").replaced == 10


def test_the_table_of_the_paper_has_counts_only():
    counts = targets_of({"hard": {"tough": 998, "odd": 1, "firm": 1}}).counts
    counts.seen["hard"] = 600
    entry = counted_lexicon(counts).entry("hard")
    assert entry.targets == (("tough", 0.998),)  # the others are under 0.002 of 600


def test_a_ranker_without_candidates_ranks_nothing():
    assert Ranker(targets_of({}), np.zeros(15, np.float32), 0.5).ranked("word") == []


def test_calibration():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(20_000, 3))
    chances = np.exp(truth) / np.exp(truth).sum(1, keepdims=True)
    labels = (rng.random(20_000)[:, None] > chances.cumsum(1)).sum(1)
    layer = torch.nn.Linear(3, 3)
    with torch.no_grad():
        layer.weight.copy_(3 * torch.eye(3))  # three times too sure, and one class too likely
        layer.bias.copy_(torch.tensor([2.0, 0, 0]))
    states = torch.from_numpy(truth).float()

    def error():
        found = layer(states).softmax(-1).detach().numpy()
        return max(calibration_error(found[:, k], labels == k) for k in range(3))

    before = error()
    calibrate(layer, layer(states).detach().numpy(), labels)
    assert before > 0.1
    assert error() < 0.01
    assert layer.weight.diagonal().mean().item() == pytest.approx(1, abs=0.05)


def test_rows_without_a_label_do_not_count():
    layer, logits = torch.nn.Linear(3, 3), np.zeros((100, 3), np.float32)
    logits[50:, 2] = 9.0
    labels = np.array([1] * 40 + [0] * 10 + [-1] * 50)
    with torch.no_grad():
        layer.bias.zero_()
    calibrate(layer, logits, labels)
    shares = layer.bias.softmax(0).tolist()
    assert shares[:2] == pytest.approx([0.2, 0.8], abs=0.02)


def test_a_word_is_predicted_without_its_own_count():
    entry = Entry(3, 1, 1, (("x", 0.5),))
    assert without(entry, 1) == Entry(2, 0, 1, entry.targets)
    assert without(entry, 2) == Entry(2, 1, 0, entry.targets)
    assert without(Entry(1, 0, 1, entry.targets), 2) == Entry(0, 0, 0, entry.targets)
    assert without(entry, classifier_training.IGNORED) is entry
    assert without(None, 1) is None


def test_a_source_is_held_out_with_all_its_rewritings():
    settings = ClassifierTraining(held_out=0.25)
    shares = [held_out_position(f"sentence {number}", settings) for number in range(4000)]
    assert np.mean(np.array(shares) < 1) == pytest.approx(0.25, abs=0.03)
    assert held_out_position("Sentence 1!", settings) == shares[1]  # case and signs apart, the same
    assert held_out_position("sentence 1", ClassifierTraining(held_out=0.25, seed=1)) != shares[1]


def test_logistic_regression_recovers_its_weights():
    rng = np.random.default_rng(0)
    facts = rng.normal(size=(50_000, 2))
    right = rng.random(50_000) < 1 / (1 + np.exp(-(facts @ [1.5, -0.5] + 0.3)))
    assert fit_logistic(facts, right) == pytest.approx([1.5, -0.5, 0.3], abs=0.05)


def test_labels_are_the_actions_of_words():
    (pair,) = linked(toy_pairs(1))
    found = label(pair, 3)
    actions = dict(zip(found.words, found.actions.tolist(), strict=True))
    assert (actions["apparently"], actions["purchased"], actions["quietly"]) == (1, 2, 0)
    assert found.written == {found.words.index("purchased"): "bought"}
    assert found.style == 3


def test_interrupted_linking_resumes(tmp_path):
    pairs, path = toy_pairs(5), tmp_path / "links.jsonl"
    link_pairs(pairs[:2], ByHand(), path, say=lambda text: None)
    whole = path.read_bytes()
    path.write_bytes(whole + b'["toy", tr')  # killed while it wrote
    said = []
    link_pairs(pairs, ByHand(), path, say=said.append)
    assert [one.pair.source for one in read_linked(path)] == [pair.source for pair in pairs]
    assert path.read_bytes().startswith(whole)
    with pytest.raises(ConfigError, match="line 1: not the pair of this training"):
        link_pairs(toy_pairs(6)[3:], ByHand(), path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A planner trained on the toy pairs."""
    out = tmp_path_factory.mktemp("planner")
    said = []
    planner = train_planner(
        toy_pairs(300), out, ClassifierTraining(epochs=4, batch=16, learning_rate=2e-3, held_out=0.15),
        device="cpu", say=said.append,
        synonyms={"quietly": ["silently"]}, difficulty={"purchased": 3.0, "bought": 1.5},
    )  # fmt: skip
    return planner, out, said


def test_a_planner_learns_what_people_did(trained):
    planner, _, _ = trained
    plan = planner(
        "the child apparently quietly purchased two houses near the river .", strength=Levels(0.5, 0.2, 0.75)
    )
    edits = {edit.phrase: edit for edit in plan.edits}
    assert edits["purchased"].targets[0] == "bought"
    assert edits["purchased"].probability > 0.5
    assert edits["apparently"].kind == "delete"
    assert edits["quietly"].kind == "insert"


def test_a_planner_survives_saving_and_loading(trained):
    planner, out, _ = trained
    sources = [pair.source for pair in toy_pairs(12)] + ["", "Hello", "https://example.org"]
    again = Planner.load(out, device="cpu")
    assert again.styles == ("toy",)
    for one, other in zip(planner.plans(sources), again.plans(sources), strict=True):
        assert [(edit.kind, edit.phrase, edit.targets) for edit in one.edits] == [
            (edit.kind, edit.phrase, edit.targets) for edit in other.edits
        ]
        for here, there in zip(one.edits, other.edits, strict=True):
            assert here.probability == pytest.approx(there.probability, abs=0.03)  # 8 bits


def test_a_batch_gives_the_plans_of_single_sentences(trained):
    planner, _, _ = trained
    sources = [pair.source for pair in toy_pairs(9)] + ["the man .", "", "🎉"]
    together = list(planner.plans(sources, style="toy"))
    for source, plan in zip(sources, together, strict=True):
        alone = planner(source, style="toy")
        assert [(edit.kind, edit.phrase) for edit in alone.edits] == [(edit.kind, edit.phrase) for edit in plan.edits]
        assert plan.source == source


def test_a_very_long_sentence_is_planned_as_far_as_the_encoder_reads(trained):
    planner, _, _ = trained
    source = " ".join(["the man apparently quietly purchased warm soup in town and"] * 300) + " saw 1990 dogs"
    plan = planner(source)
    assert any(edit.kind == "substitute" for edit in plan.edits)
    late = {edit.phrase for edit in plan.edits if edit.span[0] > len(source) / 2}
    # Of words that were not read nothing is predicted, but numbers stay and common names are used.
    assert late == {"purchased", "1990"}


def test_the_report(trained):
    _, out, said = trained
    about = json.loads((out / "planner.json").read_text(encoding="utf-8"))
    assert about["held"]["substitute"]["mean_precision"] > 90
    assert about["held"]["delete"]["calibration_error"] < 5
    assert about["settings"]["epochs"] == 4
    assert any("entries in the lexical table" in line for line in said)
    assert not (out / "checkpoint.pt").exists()


def kill_at(step):
    def say(text):
        if text.startswith(f"step {step} "):
            raise KeyboardInterrupt

    return say


def test_a_killed_training_ends_with_the_same_result(trained, tmp_path, monkeypatch):
    planner, _, _ = trained
    pairs, tables = list(linked(toy_pairs(120))), planner.classifier.tables
    settings = ClassifierTraining(epochs=2, batch=16, held_out=0.2)
    monkeypatch.setattr(classifier_training, "_SAVE_EVERY", 3)

    def train(folder, say):
        classifier_training.train_classifier(pairs, tables, tmp_path / folder, settings, device="cpu", say=say)
        return (tmp_path / folder / "head.safetensors").read_bytes()

    whole = train("whole", lambda text: None)
    with pytest.raises(KeyboardInterrupt):
        train("killed", kill_at(6))
    said = []
    assert train("killed", said.append) == whole
    assert said[0] == "resuming from step 6"


def test_a_checkpoint_of_another_training_is_refused(trained, tmp_path, monkeypatch):
    planner, _, _ = trained
    monkeypatch.setattr(classifier_training, "_SAVE_EVERY", 1)

    def train(epochs, say):
        settings = ClassifierTraining(epochs=epochs, batch=16, held_out=0.2)
        pairs = list(linked(toy_pairs(80)))
        classifier_training.train_classifier(
            pairs, planner.classifier.tables, tmp_path, settings, device="cpu", say=say
        )

    with pytest.raises(KeyboardInterrupt):
        train(2, kill_at(1))
    with pytest.raises(ConfigError, match="belongs to another training"):
        train(1, print)


def test_too_few_pairs(trained, tmp_path):
    planner, _, _ = trained
    with pytest.raises(ConfigError, match="3 pairs are too few"):
        classifier_training.train_classifier(
            list(linked(toy_pairs(3))), planner.classifier.tables, tmp_path, device="cpu"
        )


def test_a_folder_without_a_planner(tmp_path):
    with pytest.raises(ModelError, match="does not contain a planner"):
        Planner.load(tmp_path)


@pytest.mark.parametrize("name, content", [
    ("planner.json", b"{}"), ("planner.json", b"[]"), ("planner.json", b"no"), ("head.safetensors", b"short"),
])  # fmt: skip
def test_a_folder_with_a_damaged_planner(trained, tmp_path, name, content):
    _, out, _ = trained
    for path in out.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match="does not contain a planner"):
        Planner.load(tmp_path, device="cpu")


def test_a_head_belongs_to_its_encoder(trained, tmp_path):
    _, out, _ = trained
    for path in out.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    about = json.loads((out / "planner.json").read_text(encoding="utf-8"))
    (tmp_path / "planner.json").write_text(json.dumps({**about, "encoder": "other"}), encoding="utf-8")
    with pytest.raises(ModelError, match="trained on another encoder"):
        Planner.load(tmp_path, device="cpu")


def test_links_of_another_aligner_are_refused(trained, tmp_path):
    (tmp_path / "links.by").write_text("other", encoding="utf-8")
    with pytest.raises(ConfigError, match="has links of another aligner"):
        train_planner(toy_pairs(2), tmp_path, synonyms={}, difficulty={}, device="cpu")


def test_values_other_than_text_are_errors(trained):
    planner, _, _ = trained
    with pytest.raises(PlanError, match="half of a surrogate pair"):
        planner("a \ud800 b")


def test_an_unknown_style(trained):
    planner, _, _ = trained
    with pytest.raises(ConfigError, match=r"style \"turk\" is not known"):
        planner("the man .", style="turk")


def test_difficulties_are_numbers(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("Easy\t1.5\nhard\tvery\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"words\.tsv, line 2"):
        read_difficulty(path)
    path.write_text("Easy\t1.5\n", encoding="utf-8")
    assert read_difficulty(path) == {"easy": 1.5}


# ---- tables ----


def test_a_bundled_table_is_the_same_when_its_rows_are_parsed_on_access():
    path = bundled("planner") / "lexicon.tsv.xz"
    if not path.exists():
        pytest.skip("the tree has no tables")
    table, whole = Lexicon.load(path), Lexicon(dict(read_rows(path, lexicon._parsed)))
    assert len(table) == len(whole)
    words = ["physician", "commence", "in order to", "no such word", "approximately", ""]
    assert [table.entry(word) for word in words] == [whole.entry(word) for word in words]
    text = ["the", "physician", "commenced", "the", "procedure", "in", "order", "to", "help"]
    assert list(table.found_in(text)) == list(whole.found_in(text))


def test_a_damaged_row_of_a_bundled_table_is_named_when_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr("redraft.table_files.is_bundled", lambda path: True)
    path = tmp_path / "table.tsv.xz"
    path.write_bytes(lzma.compress(b"big\t3\t0\t1\tlarge\t500\nold\tx\t0\t1\n"))
    table = Lexicon.load(path)
    assert table.entry("big").targets == (("large", 0.5),)
    assert table.entry("small") is None
    with pytest.raises(ModelError, match=r"line 2: .*is not a valid entry"):
        table.entry("old")
