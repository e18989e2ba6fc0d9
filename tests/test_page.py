"""The web page in Chromium, with the service and the bundled model: a text, its edits and its texts."""

import json

import pytest

from page_actions import (
    SHORT,
    TEXT,
    asked_by,
    changed,
    decide,
    exported_plans,
    exported_text,
    finished,
    needs_weights,
    opened_part,
    output,
    outputs,
    simplified,
    source,
    target,
    with_answers,
    word,
)
from redraft import EditPlan

pytestmark = needs_weights


def test_paste_edit_rewrite_accept_export(page, simplifier):
    simplified(page)
    first, second = outputs(page)
    assert first == simplifier(SHORT).text
    assert "commenced" not in first
    decide(page, 1, "procedure", "operation")
    rewritten = changed(page, 1, first)
    assert "operation" in rewritten
    assert output(page, 2) == second
    page.click("#accept")
    assert "1 of" in page.inner_text("#counter")
    assert exported_text(page) == f"{rewritten}\n\n{second}"
    plans = exported_plans(page)
    assert [plan["source"] for plan in plans] == TEXT.split("\n\n")
    assert "operation" in json.dumps(plans[0]["edits"])
    assert page.said == []


SPLIT = "The committee, which had deliberated for three weeks, approved it."


@pytest.mark.parametrize(
    "text, name, choice, edit",
    [
        (SHORT, "physician", "flibbertigibbet",
         {"substitute": "physician", "with": ["flibbertigibbet"], "span": [4, 13]}),
        (SHORT, "commenced", "Keep", {"insert": "commenced", "span": [14, 23]}),
        ("The physician commenced the old procedure.", "old", "Delete", {"delete": "old", "span": [28, 31]}),
        (SPLIT, "which", "Split here", {"split": "which", "span": [15, 20]}),
    ],
)  # fmt: skip
def test_the_page_sends_decisions_as_requests_and_agrees_with_python(page, simplifier, text, name, choice, edit):
    simplified(page, text)
    assert output(page, 1) == simplifier(text).text
    request, answer = asked_by(page, lambda: decide(page, 1, name, choice))
    (sent,) = request["sentences"]
    assert sent["strength"] == "medium"
    made = [one for one in sent["edits"] if "probability" not in one]
    assert [{key: one[key] for key in one if key != "note"} for one in made] == [edit]
    planned = [one.to_json() for one in next(simplifier.plans([text])).edits]
    untouched = [one for one in planned if "split" in edit or one["span"] != edit["span"]]
    assert [one for one in sent["edits"] if one not in made] == untouched
    plan = EditPlan.from_json({key: sent[key] for key in ("source", "edits", "strength")})
    assert output(page, 1) == answer["sentences"][0]["output"] == simplifier(plan).text
    assert exported_plans(page) == [json.loads(json.dumps(plan.to_json()))]


def test_a_phrase_is_selected_by_dragging_and_with_shift(page):
    simplified(page)
    first, last = word(page, 1, "commenced").bounding_box(), word(page, 1, "procedure").bounding_box()
    page.mouse.move(first["x"] + 3, first["y"] + 8)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] - 3, last["y"] + 8, steps=5)
    page.mouse.up()
    assert page.inner_text(".picked b") == "commenced the procedure"
    word(page, 1, "physician").click()
    page.keyboard.press("Shift+ArrowRight")
    assert page.inner_text(".picked b") == "physician commenced"
    page.keyboard.press("Shift+ArrowLeft")
    assert page.inner_text(".picked b") == "physician"
    word(page, 1, "procedure").click(modifiers=["Shift"])
    assert page.inner_text(".picked b") == "physician commenced the procedure"
    page.get_by_label("One word less").click()
    page.get_by_label("One word less").click()
    assert page.inner_text(".picked b") == "physician commenced"
    before = output(page, 1)
    page.fill("[data-key=own-words]", "doctor started")
    request, _ = asked_by(page, lambda: page.keyboard.press("Enter"))
    (sent,) = request["sentences"]
    assert {
        "substitute": "physician commenced",
        "with": ["doctor started"],
        "span": [4, 23],
        "note": "your choice",
    } in sent["edits"]
    assert not [edit for edit in sent["edits"] if edit["span"] in ([4, 13], [14, 23])]
    assert "doctor started" in output(page, 1)
    assert before != output(page, 1)


def test_unsatisfied_requests_and_literal_texts_are_reported(page):
    simplified(page, SHORT)

    def undone(_, sentence):
        edit = {**next(one for one in sentence["edits"] if one.get("insert") == "procedure"), "status": "unmet"}
        sentence.update(literal=True, not_done=[edit])

    with_answers(page, undone)
    asked_by(page, lambda: decide(page, 1, "procedure", "Keep"))
    assert "not done: keep procedure." in page.inner_text(".failed")
    assert page.inner_text(".literal") == "Edits applied word by word, without the model."
    assert target(page, 1).locator(".badge").count() == 1
    opened_part(page, "texts").get_by_label("Use the original").check()
    assert page.locator(".failed, .literal").count() == 0


def test_a_rejected_edit_restores_the_word(page):
    simplified(page)
    before = output(page, 1)
    word(page, 1, "commenced").click()
    page.locator(".edits > ul:not(.rejected) li", has_text="commenced").locator(".reject").click()
    assert "commenced" in changed(page, 1, before)
    assert page.locator(".rejected li", has_text="commenced").count() == 1
    assert page.locator(".edits > ul:not(.rejected) li", has_text="commenced").count() == 0
    page.locator(".rejected button").click()
    assert output(page, 1) == before  # known already: nothing is computed again


def test_a_split_at_a_word_is_independent_of_the_edit_of_the_word(page):
    simplified(page, "The physician, who commenced the procedure, was old.")
    judged = page.locator(".edits li:is([data-status=satisfied], [data-status=unmet])")
    split = judged.filter(has_text="⏎ new sentence at who")
    word(page, 1, "The").click()
    assert page.get_by_role("button", name="Split here").count() == 0  # the sentence already starts there
    decide(page, 1, "who", "Split here")
    split.wait_for()
    assert "⏎" in source(page, 1).inner_text()
    decide(page, 1, "who", "Keep")
    judged.filter(has_text="keep who").wait_for()
    assert split.count() == 1
    edits = exported_plans(page)[0]["edits"]
    assert [(edit["split"], edit["span"]) for edit in edits if "split" in edit] == [("who", [15, 18])]
    split.locator(".reject").click()
    page.locator(".rejected li", has_text="⏎ new sentence at who").wait_for()
    assert "⏎" not in source(page, 1).inner_text()
    page.locator(".rejected button").click()
    split.wait_for()
    decide(page, 1, "who", "Split here")
    page.wait_for_function("() => !document.querySelector('.s').innerText.includes('⏎')")
    assert page.locator(".rejected li").count() == 0
    judged.filter(has_text="keep who").wait_for()
    assert page.said == []


def test_choices_and_own_texts_survive_another_strength(page):
    simplified(page)
    word(page, 1, "The").click()
    opened_part(page, "texts").get_by_label("Use the original").check()
    word(page, 2, "He").click()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    page.fill("textarea.own", "He went home on 12 May 2019.")
    page.click("#settings summary")
    page.locator("#strength").press("ArrowRight")
    page.wait_for_timeout(400)  # the page waits 300 milliseconds for the last change
    finished(page)
    assert exported_text(page) == f"{SHORT}\n\nHe went home on 12 May 2019."


def test_another_strength_computes_only_other_plans_again(page):
    simplified(page)
    page.click("#settings summary")
    with page.expect_response("**/v1/plan") as planned:
        page.locator("#strength").press("Home")
    assert planned.value.request.post_data_json["strength"] == 0
    finished(page)
    page.asked.clear()
    page.locator("#strength").press("End")
    page.wait_for_timeout(400)
    finished(page)
    assert any("/v1/plan" in url for url in page.asked)
    page.asked.clear()
    page.locator("#strength").press("Home")
    page.wait_for_timeout(800)
    finished(page)
    assert not [url for url in page.asked if "/v1/plan" in url or "/v1/simplify" in url]


def test_a_choice_during_a_request_is_kept(page):
    simplified(page, SHORT)
    held = []
    page.route("**/v1/simplify", lambda route: held.append(route))
    decide(page, 1, "procedure", "Delete")
    page.wait_for_selector(".t[aria-busy=true]")
    assert page.locator("#accept").is_disabled()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    page.fill("textarea.own", "The doctor began.")
    held[0].continue_()
    finished(page)
    assert output(page, 1) == "The doctor began."
    assert page.evaluate("() => document.activeElement.className") == "own"


def test_non_prose_is_unchanged(page):
    text = "医師は患者の苦痛を和らげるために薬を処方した。\n!!! ??? ...\n"
    simplified(page, text)
    assert exported_text(page) == text
    assert page.locator(".t").count() == 2
    assert page.inner_text("#counter") == "No sentence was changed."


def test_list_markers_are_kept_and_headings_get_no_full_stop(page):
    simplified(page, "# Before use\n\nTell your physician:\n- Discontinue use immediately.\n\n\n")
    lines = exported_text(page).split("\n")
    assert lines[0].startswith("# ")
    assert not lines[0].endswith(".")
    assert lines[2].endswith(":")
    assert lines[3].startswith("- ")
    assert lines[4:] == ["", "", ""]


def test_an_error_in_one_sentence_does_not_stop_the_others(page):
    def refuse(route):
        sources = [one["source"] for one in route.request.post_data_json["sentences"]]
        if any("discharged" in one for one in sources):
            route.fulfill(status=400, json={"error": {"problem": "It is too odd.", "hint": "Write it anew."}})
        else:
            route.continue_()

    page.route("**/v1/simplify", refuse)
    simplified(page)
    assert "commenced" not in output(page, 1)
    source(page, 2).locator(".w").first.click()
    assert "It is too odd. Write it anew." in page.inner_text("#panel")
    assert exported_text(page).endswith("He was discharged on 12 May 2019.")
    page.unroute("**/v1/simplify")
    page.get_by_role("button", name="Try again").click()
    target(page, 2).and_(page.locator("[data-text]")).wait_for()
    assert "It is too odd" not in page.inner_text("#panel")


def test_a_stopped_text_is_exported_completely_and_can_be_continued(page):
    paragraph = "The physician commenced the procedure. " * 13
    page.route("**/v1/simplify", lambda route: None)  # never answered
    simplified(page, f"{paragraph}\n{paragraph}\n", wait=False)
    page.click("#stop")
    page.wait_for_selector("#continue", state="visible")
    assert exported_text(page) == f"{paragraph}\n{paragraph}\n"
    assert "26 sentences not rewritten" in page.inner_text("#doing")
    page.unroute("**/v1/simplify")
    page.click("#continue")
    page.wait_for_selector("#continue", state="hidden")
    finished(page)
    assert {("commenced" in one) for one in outputs(page)} == {False}


def test_words_are_edited_by_keyboard(page):
    simplified(page)
    assert page.locator("#rows .w[tabindex='0']").count() == 1
    word(page, 1, "The").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.textContent") == "procedure"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.textContent") == "He"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("() => document.activeElement.textContent") == "The"
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.dataset.key") == "keep"
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.textContent") == "procedure"
    page.keyboard.press("Enter")
    page.locator("[data-key=delete]").press("Enter")
    page.locator(
        ".edits li:is([data-status=satisfied], [data-status=violated])", has_text="delete procedure"
    ).wait_for()
    assert page.evaluate("() => document.activeElement.dataset.key") == "delete"
    for _ in range(60):  # Tab is never caught
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement === document.body"):
            break
    else:
        pytest.fail("Tab does not leave the page")


def test_how_it_was_found_says_it_in_words_and_then_shows_the_steps(page):
    simplified(page, SHORT)
    word(page, 1, "The").click()
    part = opened_part(page, "found")
    assert "The plan asked for 2 changes: physician → doctor" in part.inner_text()
    assert "All of it is in the text. The check found nothing wrong" in part.inner_text()
    assert page.locator("#search-view").is_hidden()
    part.get_by_role("button", name="Steps of the search").click()
    page.wait_for_selector("#search-figure tr[data-outcome]")
    steps = int(page.get_attribute("#step", "max"))
    assert steps > 3
    first = page.inner_text("#search-figure")
    page.click("#next")
    assert page.input_value("#step") == "2"
    assert page.inner_text("#search-figure") != first
    page.evaluate(
        "n => { const s = document.querySelector('#step'); s.value = n; s.dispatchEvent(new Event('input')); }", steps
    )
    assert page.locator("#pool li").count() > 0
    page.keyboard.press("n")  # no shortcut behind a dialog
    page.click("#search-close")
    assert "Sentence 1 of 1" in page.inner_text("#panel-title")


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)> remained old.", "<script>alert(1)</script> was <b>old</b>."]
)
def test_text_is_never_parsed_as_html(page, text):
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    simplified(page, text)
    source(page, 1).locator(".w").first.click()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.fill("[data-key=own-words]", "<img src=y onerror=alert(2)>")
    asked_by(page, lambda: page.keyboard.press("Enter"))
    page.fill("#title", "<img src=z onerror=alert(3)>")
    page.click("#home")
    page.wait_for_selector("#document-list li")
    assert page.locator("main img, main script").count() == 0
    assert asked == []


def test_readability_is_computed_by_the_service_and_asked_for_once(page):
    def settled():
        page.wait_for_timeout(600)  # the page waits 300 milliseconds before it asks
        return sum("/v1/readability" in url for url in page.asked)

    page.click("#settings summary")
    page.select_option("#target", "B1")
    page.keyboard.press("Escape")
    with page.expect_response("**/v1/readability") as answered:
        simplified(page)
    asked = settled()
    figures = answered.value.json()
    shown = page.inner_text("#figures")
    for side in ("before", "after"):
        assert f"{figures[side]['words_per_sentence']:.1f}" in shown
        assert f"{figures[side]['grade']:.1f}" in shown
        above = sum(figures[side]["levels"][level] for level in ("B2", "C1", "C2"))
        assert f"{round(100 * above)} %" in shown
    assert "Words above B1" in shown
    word(page, 1, "The").click()
    page.click("#accept")
    assert settled() == asked
    word(page, 1, "The").click()
    opened_part(page, "texts").get_by_label("Use the original").check()
    assert settled() == asked + 1
    assert page.inner_text("#figures") != shown


def test_hard_places_are_marked_with_the_reason(page):
    page.fill("#text", "The physician was notwithstanding. " + "He saw it and " * 9 + "left.")
    page.click("#diagnose")
    page.wait_for_selector("#work", state="visible")
    hard = page.locator(".rare", has_text="notwithstanding")
    assert "1 in" in hard.get_attribute("title")
    assert "rare word: 1 in" in hard.get_attribute("aria-label")
    assert source(page, 2).get_attribute("title") == "37 words"
    hard.click()
    assert "rare word: 1 in" in page.inner_text(".phrase")


def test_diagnosing_rewrites_nothing(page):
    page.fill("#text", TEXT)
    page.click("#diagnose")
    page.wait_for_selector("#figures", state="visible")
    assert "→" not in page.inner_text("#figures")
    assert not [url for url in page.asked if "/v1/plan" in url or "/v1/simplify" in url]
    assert page.locator(".target").first.is_hidden()
    assert exported_text(page) == TEXT
    source(page, 1).locator(".w").first.click()
    assert "physician: hard word" in page.inner_text("#panel .plain")
    page.get_by_role("button", name="Simplify this text").click()
    finished(page)
    assert "commenced" not in output(page, 1)


def test_the_api_documentation_works_without_another_server(page, page_address):
    page.click("footer a")
    page.wait_for_selector(".opblock")
    assert page.title() == "redraft: API documentation"
    operation = page.locator(".opblock", has_text="/v1/readability")
    operation.locator("button").first.click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    operation.locator(".live-responses-table", has_text='"words_per_sentence"').wait_for()
    operation.locator(".tablinks", has_text="Schema").first.click()
    assert {url.startswith((page_address, "data:")) for url in page.asked} == {True}
    assert page.said == []


def test_an_error_is_shown_with_its_hint(page):
    page.fill("#text", "word " * 5000)
    page.click("#go")
    page.wait_for_selector("#alert:not(:empty)")
    assert "limit" in page.inner_text("#alert")
    assert page.input_value("#text").startswith("word")
    page.get_by_role("button", name="Dismiss").click()
    assert page.evaluate("() => document.activeElement.id") == "text"


def test_a_missing_api_key_is_asked_for_and_the_work_goes_on(page):
    sent = []

    def guarded(route):
        key = route.request.headers.get("authorization")
        sent.append(key)
        if key == "Bearer secret":
            route.continue_()
        else:
            route.fulfill(status=401, json={"error": {"problem": "The API key is missing.", "hint": "Send it."}})

    page.route("**/v1/*", guarded)
    page.fill("#text", TEXT)
    page.click("#go")
    page.wait_for_selector("#key-form", state="visible")
    assert page.evaluate("() => document.activeElement.id") == "key"
    page.fill("#key", "secret")
    page.keyboard.press("Enter")
    page.wait_for_selector("#work", state="visible")
    finished(page)
    assert "commenced" not in output(page, 1)
    assert sent[0] is None
    assert set(sent[1:]) == {"Bearer secret"}
    assert page.input_value("#key") == ""
    assert "secret" not in page.evaluate("() => JSON.stringify(localStorage)")


def test_other_versions_are_fetched_when_asked_for(page):
    simplified(page, "The physician commenced the procedure notwithstanding the patient's apprehension.")
    word(page, 1, "The").click()
    part = opened_part(page, "texts")
    first, choices = output(page, 1), part.locator("input[type=radio]")
    before = choices.count()
    request, answer = asked_by(page, lambda: page.click("[data-key=versions]"))
    page.wait_for_function("count => document.querySelectorAll('.texts input').length > count", arg=before)
    texts = {candidate["output"] for candidate in answer["sentences"][0]["candidates"]}
    assert choices.count() == before + len(texts - {first})
    assert output(page, 1) == first  # the choice stays
    assert page.locator("[data-key=versions]").count() == 0
    part.locator("label").nth(1).click()
    assert changed(page, 1, first) in texts
    assert request["candidates"] == 3
    assert page.said == []
