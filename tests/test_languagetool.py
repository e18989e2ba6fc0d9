"""The interface of LanguageTool: requests as its clients send them, offsets in UTF-16, replacements, errors, access."""

import json
import random
from urllib.parse import quote, urlencode

import language_tool_python
import pytest
from fastapi.testclient import TestClient

from free_ports import served
from redraft import DecodeConfig, Redrafter, Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled
from redraft.plan.apply_edits import apply_edits
from redraft.plan.edits import EditPlan
from redraft.plan.replacements import replacement_of
from redraft.serve.app import create_app
from redraft.serve.languagetool.annotated_text import AnnotatedText, TextPart
from redraft.serve.languagetool.matches import RULES
from redraft.serve.limits import Limits
from redraft.serve.recently_used import RecentlyUsed
from redraft.serve.suggestions import suggestions_of
from redraft.simplify import target_ranking
from redraft.simplify.simplifier import PlannedText
from redraft.text.sentences import split_document

HERE = "http://localhost"
TEXT = "They purchased forty vehicles. The old house was sold."
HARD = "The apprehension of the beneficiaries was great."  # has hard words, which need no planner
LONG = " ".join(["The old house was sold"] * 6) + "."
FORM = "application/x-www-form-urlencoded"
SMALL = Limits(max_characters=200, max_sentences=3, max_sentence=100, max_body=2000, queue=4, cached_characters=25)


def opened(simplifier, **options):
    return TestClient(create_app(simplifier, **options), base_url=HERE)


@pytest.fixture(scope="module")
def scripted():
    """Without a planner: hard places are all it finds."""
    return Simplifier(Redrafter("scripted:examples/by_hand.json", config=DecodeConfig(beams=3)))


@pytest.fixture(scope="module")
def client(scripted):
    with opened(scripted) as client:
        yield client


@pytest.fixture(scope="module")
def simplifier():
    if not holds_eight_bit_model(bundled("rewriter")):
        pytest.skip("the tree has no weights")
    return Simplifier(device="cpu")


@pytest.fixture(scope="module")
def whole(simplifier):
    with opened(simplifier) as client:
        yield client


def checked(client, text, **parameters):
    answer = client.post("/v2/check", data={"text": text, "language": "en-US", **parameters})
    assert answer.status_code == 200, answer.text
    return answer.json()["matches"]


def rules(matches):
    return {match["rule"]["id"] for match in matches}


def error(answer, status):
    """The text of an error: plain, as LanguageTool's clients show it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("Error: ")
    return answer.text


def in_utf16(text, match):
    """What a client with UTF-16 strings finds at the offset of a match; refuses halves of characters."""
    units = text.encode("utf-16-le")
    return units[2 * match["offset"] : 2 * (match["offset"] + match["length"])].decode("utf-16-le")


def with_replacement(text, match, value):
    units = text.encode("utf-16-le")
    start, end = 2 * match["offset"], 2 * (match["offset"] + match["length"])
    return (units[:start] + value.encode("utf-16-le") + units[end:]).decode("utf-16-le")


def test_an_answer_has_all_fields_of_the_interface(whole):
    answer = whole.post("/v2/check", data={"text": TEXT, "language": "en-GB"}).json()
    assert sorted(answer) == ["language", "matches", "software", "warnings"]
    assert answer["software"]["name"] == "redraft"
    assert answer["software"]["apiVersion"] == 1
    assert answer["language"]["code"] == answer["language"]["detectedLanguage"]["code"] == "en-GB"
    (match,) = answer["matches"]
    assert match == {
        "message": "Simpler than “purchased”: “bought” (plain English).",
        "shortMessage": "Simpler words",
        "replacements": [{"value": "bought"}],
        "offset": 5,
        "length": 9,
        "context": {"text": "They purchased forty vehicles. The old house was sold.", "offset": 5, "length": 9},
        "sentence": "They purchased forty vehicles.",
        "type": {"typeName": "Hint"},
        "rule": {
            "id": "REDRAFT_SIMPLER_WORDS", "description": "Words with simpler ones of the same meaning",
            "issueType": "style", "category": {"id": "STYLE", "name": "Style"},
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }  # fmt: skip


def test_hard_places_have_no_replacement(client):
    matches = checked(client, f"{HARD} {LONG}")
    assert rules(matches) == {"REDRAFT_HARD_WORD", "REDRAFT_LONG_SENTENCE"}
    assert all(match["replacements"] == [] for match in matches)
    assert "apprehension" in [in_utf16(f"{HARD} {LONG}", match) for match in matches]
    assert [match["offset"] for match in matches] == sorted(match["offset"] for match in matches)


def test_a_hard_word_with_a_suggestion_is_named_once(simplifier):
    (planned,) = simplifier.planned(["The physician examined the beneficiaries notwithstanding the apprehension."])
    found = suggestions_of(planned, simplifier.planner.classifier.tables.word_frequency)
    places = [(one.start, one.end) for one in found]
    assert len(places) == len(set(places))
    assert {"simpler words", "hard word"} <= {one.kind for one in found}


@pytest.mark.parametrize(
    "edit, kind, message, replacements",
    [
        ({"delete": "very", "span": [3, 7], "note": "so"}, "unnecessary words", "“very” can be left out (so).", ("",)),
        ({"split": True}, "new sentence", "Start a new sentence here.", ()),
        ({"split": "and", "span": [12, 15]}, "new sentence", "Start a new sentence here.", ()),
    ],
)
def test_deletions_and_splits(simplifier, edit, kind, message, replacements):
    planned = PlannedText(EditPlan.from_json({"source": "It very old and it is blue.", "edits": [edit]}))
    (found,) = suggestions_of(planned, simplifier.planner.classifier.tables.word_frequency)
    assert (found.kind, found.message, found.replacements) == (kind, message, replacements)


def test_a_split_of_a_long_sentence_is_named_once(simplifier):
    planned = PlannedText(EditPlan.from_json({"source": LONG, "edits": [{"split": True}]}))
    (found,) = suggestions_of(planned, simplifier.planner.classifier.tables.word_frequency)
    assert found.kind == "long sentence"


# Requests as the clients make them.


@pytest.mark.parametrize("encode", [lambda text: quote(text, safe="-._~"), str], ids=["24.2", "7.4"])
def test_libreoffice(whole, encode):
    """Its form: the text, strictly encoded or (7.4) not at all, then the language, then the account."""
    text = "\U0001f600 Café: they purchased forty vehicles."
    body = f"text={encode(text)}&language=en-US&username=me&apiKey=key"
    answer = whole.post("/v2/check", content=body.encode(), headers={"Content-Type": FORM})
    (match,) = answer.json()["matches"]
    assert in_utf16(text, match) == "purchased"
    assert [one["value"] for one in match["replacements"]] == ["bought"]
    assert match["rule"]["category"]["id"] == "STYLE"  # underlined in blue, as advice


def test_ltex(whole):
    """A form that is declared as JSON, with the mark-up of a LaTeX file."""
    parts = [
        {"markup": "\\section{", "interpretAs": ""}, {"text": "Sales"}, {"markup": "}\n", "interpretAs": "\n\n"},
        {"text": "They \U0001f600 purchased "}, {"markup": "$x$", "interpretAs": "Dummy0"}, {"text": " vehicles in "},
        {"markup": "\\emph{"}, {"text": "May"}, {"markup": "}"}, {"text": "."},
    ]  # fmt: skip
    sent = "".join(part.get("text", part.get("markup")) for part in parts)
    body = urlencode({"language": "en-US", "data": json.dumps({"annotation": parts}), "motherTongue": "de-DE"})
    answer = whole.post("/v2/check", content=body, headers={"Content-Type": "application/json"})
    (match,) = answer.json()["matches"]
    assert in_utf16(sent, match) == "purchased"
    assert match["sentence"] == "They \U0001f600 purchased Dummy0 vehicles in May."


def test_the_browser_extension(scripted):
    """A form from the origin of the extension, with `data` and the settings of its account."""
    origin = "chrome-extension://oldceeleldhonbafppcapldpdifcinji"
    parts = [{"text": HARD}, {"markup": "\ufeff"}, {"text": "\n"}]
    form = {
        "data": json.dumps({"annotation": parts, "metaData": {"EmailToAddress": ""}}), "language": "auto",
        "preferredVariants": "en-GB,de-DE", "preferredLanguages": "en,de", "noopLanguages": "de", "level": "picky",
        "enabledRules": "SOME_RULE", "disabledRules": "WHITESPACE_RULE", "useragent": "chrome",
    }  # fmt: skip
    with opened(scripted, cors=[origin]) as client:
        answer = client.post("/v2/check", data=form, headers={"Origin": origin})
        assert answer.json()["language"]["code"] == "en-GB"
        assert answer.headers["access-control-allow-origin"] == origin
        assert rules(answer.json()["matches"]) == {"REDRAFT_HARD_WORD"}
    with opened(scripted) as client:
        assert "--cors" in error(client.post("/v2/check", data=form, headers={"Origin": origin}), 403)


def test_language_tool_python(simplifier):
    limits = Limits()
    with served(create_app(simplifier, limits=limits), limits) as (port, _):
        tool = language_tool_python.LanguageTool("en-US", remote_server=f"http://127.0.0.1:{port}", mother_tongue="en")
        try:
            text = "The \U0001f600 physician commenced. They purchased forty vehicles."
            matches = tool.check(text)
            found = {text[match.offset : match.offset + match.error_length] for match in matches}
            assert {"physician", "purchased"} <= found
            assert "They bought forty vehicles." in tool.correct(text)
            tool.disabled_rules = {"REDRAFT_SIMPLER_WORDS"}
            assert all(match.rule_id != "REDRAFT_SIMPLER_WORDS" for match in tool.check(text))
            tool.picky = True
            tool.enabled_rules, tool.disabled_rules, tool.enabled_rules_only = {"REDRAFT_LONG_SENTENCE"}, set(), True
            assert tool.check(text) == []
        finally:
            tool.close()


def test_all_ways_to_send_a_text_give_the_same_matches(client):
    expected = checked(client, HARD)
    assert expected
    parameters = {"text": HARD, "language": "en-US"}
    data = json.dumps({"text": HARD})
    asked = [
        client.get("/v2/check", params=parameters),
        client.post("/v2/check", params=parameters),
        client.post("/v2/check", json=parameters),
        client.post("/v2/check", json={"data": {"annotation": [{"text": HARD}]}, "language": "en-US"}),
        client.post("/v2/check", data={"data": data, "language": "en-US"}),
        client.post("/v2/check?language=en-US", content=f"text={quote(HARD)}"),
    ]
    assert [answer.json().get("matches") for answer in asked] == [expected] * len(asked)


# Offsets.


_PIECES = (
    "They purchased forty vehicles notwithstanding the apprehension of the physician.",
    "However, the procedure commenced immediately.",
    "It is a very difficult and really quite enormous undertaking, isn’t it?",
    "The committee endeavoured to ascertain the truth",
    "Numerous individuals utilise a commencement date prior to May.",
)
_GARNISH = (
    "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "e\u0301", "ä\u0308\u0323",
    "\u200b", "𝐛𝐨𝐥𝐝", "\u00a0", "\ufeff", "\u202eabc\u202c", "ﬁ", "漢字", "İ", "\x00", "\u2028", "«x»", "— ",
    "...", "1,000.5",
)  # fmt: skip
_GAPS = (" ", "  ", "\t", "\r\n", "\n\n", "\r\n\r\n", "\n- ", " \t ", "\u2003")


def generated(seed):
    """A text of some sentences with odd characters between and inside the words."""
    chance = random.Random(seed)
    text = ""
    for _ in range(chance.randint(1, 3)):
        words = chance.choice(_PIECES).split(" ")
        for _ in range(chance.randint(0, 3)):
            words.insert(chance.randrange(len(words) + 1), chance.choice(_GARNISH))
        glue = [chance.choice(_GAPS) if chance.random() < 0.1 else " " for _ in words]
        text += "".join(word + gap for word, gap in zip(words, glue, strict=True)) + chance.choice(_GAPS)
    return text


def intended(simplifier, text, strength):
    """Every text that carries out one predicted edit, made without the interface."""
    at, made = 0, set()
    for sentence in split_document(text):
        at += len(sentence.space)
        planned = next(simplifier.planned([sentence.text], quick=True, strength=strength)) if sentence.text else None
        for edit in planned.plan.edits if planned and planned.unchanged is None else ():
            for target in edit.targets or [None]:
                one = type(edit)(edit.kind, edit.phrase, (target,) if target else (), span=edit.span)
                result = apply_edits(EditPlan(sentence.text, (one,)))
                if edit.kind != "insert" and result != sentence.text:
                    made.add(text[:at] + result + text[at + len(sentence.text) :])
        at += len(sentence.text)
    return made


def test_every_offset_of_500_texts_is_right(whole, simplifier):
    seen = set()
    for seed in range(500):
        text = generated(seed)
        level, strength = ("picky", "strong") if seed % 2 else ("default", "medium")
        matches = checked(whole, text, level=level)
        for match in matches:
            place = in_utf16(text, match)
            assert place.strip() == place or match["replacements"] == [{"value": ""}], (seed, place)
            quoted = match["message"].partition("“")[2].partition("”")[0]
            assert quoted in place, (seed, match["message"], place)
            context = match["context"]
            flat = place.replace("\r", " ").replace("\n", " ").replace("\t", " ")
            assert in_utf16(context["text"], context) == flat, seed
        made = {with_replacement(text, match, one["value"]) for match in matches for one in match["replacements"]}
        if seed < 100:  # planning again, sentence by sentence, takes its time
            assert made == intended(simplifier, text, strength), seed
        seen |= rules(matches)
    assert {"REDRAFT_SIMPLER_WORDS", "REDRAFT_HARD_WORD", "REDRAFT_UNNECESSARY_WORDS"} <= seen


def test_halves_of_surrogate_pairs_count_as_one(client):
    body = '{"text": "\\ud83d ' + HARD + ' \\ude00", "language": "en"}'
    answer = client.post("/v2/check", content=body, headers={"Content-Type": "application/json"})
    assert {(match["offset"], match["length"]) for match in answer.json()["matches"]} >= {(6, 12)}


@pytest.mark.parametrize(
    "parts, phrase, expected",
    [
        pytest.param([("a ", None), ("<b>", ""), ("😀 old", None)], "old", (8, 11), id="mark-up-and-emoji-before-it"),
        pytest.param([("ol", None), ("<i>", ""), ("d", None)], "old", (0, 6), id="mark-up-inside"),
        pytest.param([("<p>", "x old"), (" y", None)], "old", None, id="only-in-text-that-stands-for-mark-up"),
        pytest.param([("an ", None), ("$x$", "old"), (" one", None)], "an old one", (0, 10), id="around-mark-up"),
        pytest.param([("", None), ("<p>", ""), ("<b>", ""), ("old", None), ("</b>", "")], "old", (6, 9), id="empty"),
    ],
)
def test_ranges_in_annotated_text(parts, phrase, expected):
    text = AnnotatedText(TextPart(sent, read_as) for sent, read_as in parts)
    start = text.plain.index(phrase)
    place = text.sent_range(start, start + len(phrase))
    assert (place and tuple(map(text.utf16, place))) == expected


def test_a_replacement_never_removes_markup(whole):
    parts = [
        {"text": "They pur"},
        {"markup": "<b>"},
        {"text": "chased"},
        {"markup": "</b>"},
        {"text": " forty vehicles."},
    ]
    answer = whole.post("/v2/check", json={"data": {"annotation": parts}, "language": "en"})
    (match,) = answer.json()["matches"]
    assert (match["offset"], match["length"], match["replacements"]) == (5, 12, [])


# Rules, levels, languages.


def test_rules_and_categories_can_be_chosen(client):
    text = f"{HARD} {LONG}"
    both = {"REDRAFT_HARD_WORD", "REDRAFT_LONG_SENTENCE"}
    assert rules(checked(client, text, disabledRules="REDRAFT_HARD_WORD,OTHER")) == {"REDRAFT_LONG_SENTENCE"}
    assert rules(checked(client, text, enabledRules="REDRAFT_HARD_WORD")) == both
    assert rules(checked(client, text, enabledRules=" REDRAFT_HARD_WORD ", enabledOnly="true")) == {"REDRAFT_HARD_WORD"}
    assert rules(checked(client, text, enabledCategories="STYLE", enabledOnly="yes")) == both
    assert checked(client, text, disabledCategories="STYLE") == []
    sent = {"text": text, "language": "en", "disabledRules": ["REDRAFT_HARD_WORD"]}
    assert rules(client.post("/v2/check", json=sent).json()["matches"]) == {"REDRAFT_LONG_SENTENCE"}
    assert len({rule.id for rule in RULES.values()}) == len(RULES)


def test_the_picky_level_suggests_more(whole):
    text = " ".join(_PIECES)
    assert len(checked(whole, text, level="picky")) > len(checked(whole, text))


@pytest.mark.parametrize(
    "code, answered", [("en", "en"), ("en-us", "en-US"), ("en-GB", "en-GB"), ("en-IN", "en"), ("auto", "en-US")]
)
def test_variants_of_english(client, code, answered):
    answer = client.post("/v2/check", data={"text": HARD, "language": code}).json()
    assert answer["language"]["code"] == answered
    assert answer["matches"]


def test_replacements_have_the_spelling_of_the_language(whole):
    def values(text, language):
        matches = checked(whole, text, language=language, level="picky")
        return {one["value"] for match in matches for one in match["replacements"]}

    plain, british = "The hue of the vehicle was altered.", "The hue of the grey harbour was altered."
    assert "color" in values(plain, "en-US")
    assert "colour" in values(plain, "en-GB")
    assert "colour" in values(british, "auto")
    assert "color" in values(british, "en-US")


def test_text_of_another_language_has_no_matches(whole):
    assert checked(whole, "Der Arzt hat das Verfahren gestern begonnen und dann wieder beendet.", language="auto") == []


def test_languages(client):
    found = client.get("/v2/languages").json()
    assert {"name": "English (GB)", "code": "en", "longCode": "en-GB"} in found
    assert {one["code"] for one in found} == {"en"}


# Errors and access.


@pytest.mark.parametrize(
    "parameters, said",
    [
        ({"language": "en"}, "'text' or 'data' is required, and none"),
        ({"language": "en", "text": "a", "data": "{}"}, "both of them"),
        ({"text": "a"}, "Missing 'language' parameter"),
        ({"text": "a", "language": "de-DE"}, "'de-DE' is not a language code known to redraft. Language codes are en,"),
        ({"text": "a", "language": "x" * 5000}, f"'{'x' * 20}' is not a language code"),
        ({"text": "a", "language": "en", "level": "high"}, "'level' is \"high\". Use default or picky."),
        ({"text": "a", "language": "en", "enabledOnly": "true"}, "no rule or category is enabled"),
        ({"text": "a", "language": "en", "enabledOnly": "true", "enabledRules": "A", "disabledRules": "B"}, "disabled"),
        ({"data": "{", "language": "en"}, "'data' is not JSON"),
        ({"data": "[" * 100_000, "language": "en"}, "'data' is not JSON"),
        ({"data": "[]", "language": "en"}, "no list 'annotation' and no 'text'"),
        ({"data": '{"annotation": {}}', "language": "en"}, "no list 'annotation'"),
        ({"data": '{"annotation": [1]}', "language": "en"}, "data.annotation[0] must have either"),
        ({"data": '{"annotation": [{"text": "a"}, {"text": "a", "markup": "b"}]}', "language": "en"}, "annotation[1]"),
        ({"data": '{"annotation": [{"text": 1}]}', "language": "en"}, "'data.annotation[0].text' is 1"),
        ({"data": '{"annotation": [{"markup": "a", "interpretAs": []}]}', "language": "en"}, "no error"),
        ({"data": '{"annotation": [{"markup": "a", "interpretAs": [1]}]}', "language": "en"}, "interpretAs' is [1]"),
    ],
)  # fmt: skip
def test_mistakes_are_named(client, parameters, said):
    answer = client.post("/v2/check", data=parameters)
    if said == "no error":
        assert answer.status_code == 200
    else:
        assert said in error(answer, 400)


@pytest.mark.parametrize("field", ["text", "language", "level"])
@pytest.mark.parametrize("value", [1, ["en"], {"en": 1}, True])
def test_json_of_the_wrong_type_is_named(client, field, value):
    sent = {"text": "a", "language": "en", field: value}
    assert f"'{field}' is " in error(client.post("/v2/check", json=sent), 400)


@pytest.mark.parametrize(
    "body", [b"{", b"{" * 100_000, b'{"text": "\xff"}', b"&a=b" * 200, b'{"text": ' + b"9" * 5000 + b"}"]
)
def test_bodies_that_cannot_be_read_are_refused(client, body):
    assert "neither a form nor a JSON object" in error(client.post("/v2/check", content=body), 400)


def test_a_form_that_is_not_utf8_is_read(client):
    answer = client.post(
        "/v2/check", content=b"language=en&text=" + HARD.encode() + b"%ff\xff", headers={"Content-Type": FORM}
    )
    assert answer.json()["matches"]


@pytest.mark.parametrize(
    "text, said",
    [
        ("a" * 201, "201 characters, and the limit is 200"),
        ("One. Two! Three? Four!", "4 sentences, and the limit is 3"),
        ("a" * 101, "has 101 characters, and the limit is 100"),
        ("a" * 2001, "larger than the limit of 2,000 bytes"),
    ],
)
def test_limits_are_those_of_the_service(scripted, text, said):
    with opened(scripted, limits=SMALL) as client:
        assert said in error(client.post("/v2/check", data={"text": text, "language": "en"}), 413)


def test_other_errors_are_plain_text_too(client):
    assert "nothing at this path" in error(client.get("/v2/words"), 404)
    assert "HTTP method" in error(client.put("/v2/check"), 405)
    assert "Host" in error(client.get("/v2/languages", headers={"Host": "evil.example"}), 403)


def test_an_internal_error_is_plain_text_and_quotes_nothing(scripted, monkeypatch):
    monkeypatch.setattr("redraft.serve.service.sentences_of_text", lambda *_: 1 / 0)
    with TestClient(create_app(scripted), base_url=HERE, raise_server_exceptions=False) as client:
        assert HARD not in error(client.post("/v2/check", data={"text": HARD, "language": "en"}), 500)


def test_the_key_may_be_a_parameter(scripted):
    form = {"text": HARD, "language": "en"}
    with opened(scripted, api_key="secret") as client:
        assert "key" in error(client.post("/v2/check", data=form), 403)
        assert "key" in error(client.post("/v2/check", data={**form, "apiKey": "wrong"}), 403)
        assert "key" in error(client.post("/v2/check", data=form, headers={"Authorization": "Basic secret"}), 403)
        assert "key" in error(client.post("/v2/check", json={**form, "apiKey": ["secret"]}), 403)
        assert client.post("/v2/check", data={**form, "username": "me", "apiKey": "secret"}).status_code == 200
        assert client.post("/v2/check", data=form, headers={"Authorization": "Bearer secret"}).status_code == 200
        assert client.get("/v2/languages").status_code == 200
        assert client.post("/v1/plan?apiKey=secret", json={"text": "A."}).status_code == 401


def test_pages_of_other_sites_cannot_check(client):
    form = {"text": HARD, "language": "en"}
    for origin in ("https://evil.example", "null"):
        assert "Origin" in error(client.post("/v2/check", data=form, headers={"Origin": origin}), 403)
    assert "Origin" in error(client.get("/v2/check", params=form, headers={"Sec-Fetch-Site": "cross-site"}), 403)
    assert client.get("/v2/check", params=form, headers={"Sec-Fetch-Site": "none"}).status_code == 200


# Speed.


def computed(client):
    metrics = client.get("/metrics").text
    return float(metrics.partition("\nredraft_sentences_total ")[2].partition("\n")[0])


def test_only_new_sentences_are_planned(scripted):
    with opened(scripted) as client:
        first = checked(client, f"{HARD} {TEXT} {HARD}")
        assert computed(client) == 3
        assert checked(client, f"{HARD} {TEXT} {HARD}") == first
        assert computed(client) == 3
        checked(client, f"{HARD} A new sentence is here. {TEXT}")
        assert computed(client) == 4
        checked(client, HARD, level="picky")
        assert computed(client) == 5


def test_few_sentences_are_remembered(scripted):
    with opened(scripted, limits=SMALL) as client:
        for text in ("One house.", "Two houses.", "One house.", "Three houses.", "One house."):
            checked(client, text)
        assert computed(client) == 3
        checked(client, "Two houses.")
        assert computed(client) == 4


def test_recently_used():
    remembered = RecentlyUsed(4, size=len)
    for key in ("aa", "b", "aa", "cc", "long key"):
        assert remembered.get("long key") is None
        remembered.put(key, key.upper())
    assert [remembered.get(key) for key in ("aa", "b", "cc", "long key")] == [None, None, None, None]
    for key in ("aa", "b", "aa", "cc"):
        remembered.put(key, key.upper())
    assert [remembered.get(key) for key in ("aa", "b", "cc")] == ["AA", None, "CC"]


def test_quick_plans_need_no_pass_of_the_model(simplifier, monkeypatch):
    sources = [*_PIECES, "The legislation was promulgated by the monarch in the following decade."]
    slow = [plan.plan for plan in simplifier.planned(sources)]
    monkeypatch.setattr(target_ranking, "log_probs", lambda _, pairs: [1 / 0 for _ in pairs])
    monkeypatch.setattr(simplifier.check, "check", lambda _: 1 / 0)
    quick = [plan.plan for plan in simplifier.planned(sources, quick=True)]
    with pytest.raises(ZeroDivisionError):
        list(simplifier.planned(sources))
    first = [{(edit.span, *edit.targets[:1]) for edit in plan.edits if edit.targets} for plan in (*slow, *quick)]
    slow_targets, quick_targets = set.union(*first[: len(slow)]), set.union(*first[len(slow) :])
    assert len(slow_targets & quick_targets) > 0.7 * len(slow_targets)


def test_replacements_are_never_the_text_itself(simplifier):
    for source in _PIECES:
        (planned,) = simplifier.planned([source], strength="strong")
        for edit in planned.plan.edits:
            found = replacement_of(source, edit)
            assert found is None or source[found.start : found.end] not in found.texts
