"""The web page in Chromium, with the service and the bundled model."""

import json
import os
import shutil
import threading
import time

import pytest

from free_ports import free_port
from redraft import EditPlan, Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights"),
    pytest.mark.skipif(CHROMIUM is None and not os.environ.get("CI"), reason="no Chromium"),
]
TEXT = "The physician commenced the procedure.\n\nHe was discharged on 12 May 2019."
WAIT = 60_000  # milliseconds; two cores may be busy


@pytest.fixture(scope="module")
def simplifier():
    return Simplifier(device="cpu")


@pytest.fixture(scope="module")
def address(simplifier):
    import uvicorn

    from redraft.serve.app import create_app

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(simplifier), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def browser():
    assert CHROMIUM is not None, "CI needs Chromium: apt-get install chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, address):
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(WAIT)
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.goto(address)
    yield page
    page.close()


def simplified(page, text=TEXT):
    page.fill("#text", text)
    page.click("#go")
    page.wait_for_selector(".sentence .output[data-text]")
    return page


def output(page, number):
    return page.locator(".sentence").nth(number).locator(".output").get_attribute("data-text")


def changed(page, number, before):
    page.wait_for_function(
        "([n, old]) => { const o = document.querySelectorAll('.sentence')[n].querySelector('.output');"
        " return o && o.dataset.text && o.dataset.text !== old; }",
        arg=[number, before],
    )
    return output(page, number)


def word(page, number, text):
    return page.locator(".sentence").nth(number).locator(".source button.word", has_text=text).first


def downloaded(page, button):
    with page.expect_download() as waiting:
        page.click(button)
    return waiting.value.path().read_text(encoding="utf-8")


def test_paste_edit_rewrite_accept_export(page, simplifier):
    simplified(page)
    first, second = (output(page, number) for number in (0, 1))
    assert first == simplifier("The physician commenced the procedure.").text
    assert "commenced" not in first
    assert "→" in page.inner_text("#readability")

    word(page, 0, "procedure").click()
    page.locator("[role=menu]").wait_for()
    page.fill(".word-menu input", "operation")
    page.keyboard.press("Enter")
    rewritten = changed(page, 0, first)
    assert "operation" in rewritten
    assert output(page, 1) == second

    page.locator(".sentence").first.locator(".accept").first.click()
    assert downloaded(page, "#export-text").strip() == f"{rewritten}\n\n{second}"
    plans = [json.loads(line) for line in downloaded(page, "#export-plan").splitlines()]
    assert [plan["source"] for plan in plans] == TEXT.split("\n\n")
    assert "operation" in json.dumps(plans[0]["edits"])
    assert "operation" in downloaded(page, "#export-html")
    assert page.said == []


SPLIT = "The committee, which had deliberated for three weeks, approved it."


def asked_by_the_page(page, act):
    """The sentence that the page sends after an action, and the answer of the service."""
    with page.expect_response("**/v1/simplify") as waiting:
        act()
    (sent,) = waiting.value.request.post_data_json["sentences"]
    (answer,) = waiting.value.json()["sentences"]
    page.wait_for_selector(".sentence[aria-busy=false]")
    return sent, answer


@pytest.mark.parametrize(
    "text, name, choice, edit",
    [
        ("The physician commenced the procedure.", "physician", "flibbertigibbet",
         {"substitute": "physician", "with": ["flibbertigibbet"], "span": [4, 13]}),
        ("The physician commenced the procedure.", "commenced", "Keep", {"insert": "commenced", "span": [14, 23]}),
        ("The physician commenced the old procedure.", "old", "Delete", {"delete": "old", "span": [28, 31]}),
        (SPLIT, "which", "Start a new sentence here", {"split": "which", "span": [15, 20]}),
    ],
)  # fmt: skip
def test_the_page_sends_decisions_as_requests_and_agrees_with_python(page, simplifier, text, name, choice, edit):
    def decide():
        word(page, 0, name).click()
        item = page.locator(".word-menu button", has_text=choice)
        if item.count():
            item.first.click()
        else:
            page.fill(".word-menu input", choice)
            page.keyboard.press("Enter")

    simplified(page, text)
    page.wait_for_selector("#stop", state="hidden")
    assert output(page, 0) == simplifier(text).text
    sent, answer = asked_by_the_page(page, decide)
    assert sent["strength"] == "medium"
    made = [one for one in sent["edits"] if "probability" not in one]
    assert [{key: one[key] for key in one if key != "note"} for one in made] == [edit]
    planned = [one.to_json() for one in next(simplifier.plans([text])).edits]
    untouched = [one for one in planned if "split" in edit or one["span"] != edit["span"]]
    assert [one for one in sent["edits"] if one not in made] == untouched
    plan = EditPlan.from_json({key: sent[key] for key in ("source", "edits", "strength")})
    assert output(page, 0) == answer["output"] == simplifier(plan).text
    assert json.loads(downloaded(page, "#export-plan")) == json.loads(json.dumps(plan.to_json()))


def test_an_accepted_edit_becomes_a_request(page):
    simplified(page, "The physician commenced the procedure.")
    item = page.locator(".edits li[data-status]", has_text="commenced").first
    item.get_by_role("button", name="Accept").click()
    (plan,) = map(json.loads, downloaded(page, "#export-plan").splitlines())
    (accepted,) = [edit for edit in plan["edits"] if edit.get("substitute") == "commenced"]
    assert not {"probability", "weight"} & set(accepted)
    page.locator(".edits li[data-status]", has_text="commenced").first.get_by_role("button", name="Accept").click()
    (plan,) = map(json.loads, downloaded(page, "#export-plan").splitlines())
    (left,) = [edit for edit in plan["edits"] if edit.get("substitute") == "commenced"]
    assert left["probability"] > 0


def test_unsatisfied_requests_and_literal_texts_are_reported(page):
    simplified(page, "The physician commenced the procedure.")
    page.wait_for_selector("#stop", state="hidden")
    assert page.locator(".failed, .literal").count() == 0

    def answered(route):
        answer = route.fetch().json()
        sentence = answer["sentences"][0]
        undone = {**next(edit for edit in sentence["edits"] if edit.get("insert") == "procedure"), "status": "unmet"}
        for one in (sentence, sentence["candidates"][0]):
            one.update(literal=True, not_done=[undone])
        route.fulfill(json=answer)

    page.route("**/v1/simplify", answered)
    asked_by_the_page(page, lambda: chosen_in_menu(page, "procedure", "Keep"))
    assert "not done: keep procedure." in page.inner_text(".failed")
    assert page.inner_text(".literal") == "Edits applied word by word, without the model."
    page.get_by_label("Use the original").check()
    assert page.locator(".failed, .literal").count() == 0


def test_meaning_alarms_are_marked_and_listed_by_risk(page):
    def answered(route):
        answer = route.fetch().json()
        for number, sentence in enumerate(answer["sentences"]):
            meaning = {"risk": 0.7 + 0.2 * number, "alarm": True, "words": ["not"], "why": "the output lacks “not”",
                       "spans": {"source": [], "output": []}}  # fmt: skip
            for one in (sentence, sentence["candidates"][0]):
                one["meaning"] = meaning
        route.fulfill(json=answer)

    page.route("**/v1/simplify", answered)
    simplified(page)
    page.wait_for_selector("#stop", state="hidden")
    assert page.locator(".meaning-alarm").first.inner_text().endswith("(risk 70 %): the output lacks “not”.")
    assert page.locator("#review button").all_inner_texts() == ["Sentence 2", "Sentence 1"]
    page.click("#review button >> nth=0")
    assert page.evaluate("document.activeElement.closest('.sentence').dataset.number") == "2"
    page.locator(".sentence").nth(1).get_by_label("Use the original").check()
    assert page.locator("#review button").all_inner_texts() == ["Sentence 1"]
    page.locator(".sentence").nth(0).get_by_label("Use the original").check()
    assert page.locator("#review").is_hidden()
    assert page.said == []


def test_the_glossary_applies_to_text_that_is_not_rewritten(page, simplifier):
    page.click(".user-constraints summary")
    page.fill("#glossary", "Hypertonie = Bluthochdruck")
    simplified(page, "Der Arzt verschrieb dem Patienten wegen Hypertonie ein Medikament.")
    page.wait_for_selector("#stop", state="hidden")
    assert output(page, 0) == "Der Arzt verschrieb dem Patienten wegen Bluthochdruck ein Medikament."
    assert "Not rewritten" not in page.inner_text(".sentence")


def test_a_rejected_edit_restores_the_word(page):
    simplified(page)
    before = output(page, 0)
    assert "commenced" not in before
    card = page.locator(".sentence").first
    card.locator(".edits li", has_text="commenced").locator(".reject").click()
    assert "commenced" in changed(page, 0, before)
    assert card.locator(".rejected li", has_text="commenced").count() == 1
    assert card.locator(".edits li", has_text="commenced").count() == 0
    card.locator(".rejected button").click()
    assert changed(page, 0, output(page, 0)) == before


def chosen_in_menu(page, text, label):
    word(page, 0, text).click()
    page.locator(".word-menu button", has_text=label).first.click()


def test_a_split_at_a_word_is_independent_of_the_edit_of_the_word(page):
    simplified(page, "The physician, who commenced the procedure, was old.")
    judged = page.locator(".edits li:is([data-status=satisfied], [data-status=unmet])")
    word(page, 0, "The").click()
    page.locator("[role=menu]").wait_for()
    assert page.locator("[role=menuitemcheckbox]").count() == 0  # the sentence already starts there
    page.keyboard.press("Escape")

    chosen_in_menu(page, "who", "Start a new sentence here")
    judged.filter(has_text="⏎ new sentence at who").wait_for()
    assert "⏎" in page.locator(".source").inner_text()
    chosen_in_menu(page, "who", "Keep")
    judged.filter(has_text="keep who").wait_for()
    assert judged.filter(has_text="⏎ new sentence at who").count() == 1
    edits = json.loads(downloaded(page, "#export-plan"))["edits"]
    assert [edit["span"] for edit in edits if "split" in edit] == [[15, 18]]
    assert [edit["split"] for edit in edits if "split" in edit] == ["who"]

    judged.filter(has_text="⏎ new sentence at who").locator(".reject").click()
    page.locator(".rejected li", has_text="⏎ new sentence at who").wait_for()
    assert "⏎" not in page.locator(".source").inner_text()
    page.locator(".rejected button").click()
    judged.filter(has_text="⏎ new sentence at who").wait_for()
    chosen_in_menu(page, "who", "Start a new sentence here")
    page.wait_for_function("!document.querySelector('.source').innerText.includes('⏎')")
    assert page.locator(".rejected li").count() == 0
    judged.filter(has_text="keep who").wait_for()
    assert page.said == []


def test_choices_and_own_texts_survive_a_new_plan(page):
    simplified(page)
    first, second = (page.locator(".sentence").nth(number) for number in (0, 1))
    first.get_by_label("Use the original").check()
    second.get_by_label("Write it yourself").check()
    second.locator("textarea.own").fill("He went home on 12 May 2019.")
    with page.expect_response("**/v1/plan"):
        page.locator("#strength").press("ArrowRight")
    page.wait_for_selector("#stop", state="hidden")
    text = "The physician commenced the procedure.\n\nHe went home on 12 May 2019."
    assert downloaded(page, "#export-text") == text
    assert "not checked" in second.text_content() or second.locator(".edits li").count() == 0


def test_own_texts_survive_an_aborted_run(page):
    first = "The physician commenced the procedure. " * 13
    simplified(page, f"{first}\n\nHe was discharged on 12 May 2019.")
    page.wait_for_selector("#stop", state="hidden")
    last = page.locator(".sentence").nth(13)
    last.get_by_label("Write it yourself").check()
    last.locator("textarea.own").type(" So he was.")
    last.locator(".accept").first.click()  # the first click counts, although the cursor was in the box
    assert last.locator(".accept").first.get_attribute("aria-pressed") == "true"
    own = output(page, 13)
    assert own.endswith(" So he was.")
    for _ in range(2):
        with page.expect_response("**/v1/plan"):
            page.locator("#strength").press("ArrowRight")
        page.wait_for_selector("#stop", state="visible")
        assert downloaded(page, "#export-text").endswith(f"\n\n{own}")
    page.wait_for_selector("#stop", state="hidden")
    assert output(page, 13) == own
    assert "1 of 14" in page.inner_text("#progress")


def test_a_choice_during_a_request_is_kept(page):
    simplified(page, "The physician commenced the procedure.")
    card = page.locator(".sentence").first
    held = []
    page.route("**/v1/simplify", lambda route: held.append(route))
    word(page, 0, "procedure").click()
    page.locator("[role=menuitemradio]", has_text="Delete").first.click()
    assert card.locator(".accept").first.is_disabled()
    card.get_by_label("Write it yourself").check()
    card.locator("textarea.own").fill("The doctor began.")
    held[0].continue_()
    page.wait_for_function("() => document.querySelector('.sentence').getAttribute('aria-busy') === 'false'")
    assert output(page, 0) == "The doctor began."
    assert page.evaluate("document.activeElement.className") == "own"


def test_non_prose_is_unchanged(page):
    text = "医師は患者の苦痛を和らげるために薬を処方した。\n!!! ??? ...\n"
    simplified(page, text)
    page.wait_for_selector("#stop", state="hidden")
    assert downloaded(page, "#export-text") == text
    assert page.locator(".sentence").count() == 2


def test_list_markers_are_kept_and_headings_get_no_full_stop(page):
    text = "# Before use\n\nTell your physician:\n- Discontinue use immediately.\n"
    simplified(page, text)
    page.wait_for_selector("#stop", state="hidden")
    lines = downloaded(page, "#export-text").split("\n")
    assert lines[0].startswith("# ")
    assert not lines[0].endswith(".")
    assert lines[2].endswith(":")
    assert not lines[2].endswith(".:")
    assert lines[3].startswith("- ")


def test_an_error_in_one_sentence_does_not_stop_the_others(page):
    def refuse(route):
        sources = [one["source"] for one in route.request.post_data_json["sentences"]]
        if any("discharged" in source for source in sources):
            route.fulfill(status=400, json={"error": {"problem": "It is too odd.", "hint": "Write it anew."}})
        else:
            route.continue_()

    page.route("**/v1/simplify", refuse)
    simplified(page)
    page.wait_for_selector("#stop", state="hidden")
    assert "commenced" not in output(page, 0)
    assert "It is too odd. Write it anew." in page.locator(".sentence").nth(1).inner_text()
    assert downloaded(page, "#export-text").endswith("He was discharged on 12 May 2019.")


def test_a_stopped_text_is_exported_completely_and_can_be_continued(page):
    paragraph = "The physician commenced the procedure. " * 13
    text = f"{paragraph}\n{paragraph}\n"
    page.fill("#text", text)
    page.click("#go")
    page.wait_for_selector(".sentence")
    page.click("#stop")
    page.wait_for_selector("#rest", state="visible")
    exported = downloaded(page, "#export-text")
    assert exported.endswith(f"\n{paragraph}\n")
    assert page.locator(".sentence").count() == 13
    page.click("#continue")
    page.wait_for_function("() => document.querySelectorAll('.sentence').length === 26")
    page.click("#stop")


def test_words_are_edited_by_keyboard(page):
    simplified(page, "The physician commenced the procedure.")
    assert page.locator(".source button[tabindex='0']").count() == 1
    word(page, 0, "The").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "procedure"
    page.keyboard.press("ArrowDown")
    page.locator("[role=menu]").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('role')") == "menuitemradio"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.classList.contains('word')")
    word(page, 0, "procedure").press("Enter")
    page.locator("[role=menuitemradio]", has_text="Delete").first.press("Enter")
    judged = ".edits li:is([data-status=satisfied], [data-status=violated])"
    page.locator(judged, has_text="delete procedure").wait_for()


def test_the_search_is_shown_step_by_step(page):
    simplified(page, "The physician commenced the procedure.")
    page.locator(".sentence .show-search").first.click()
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


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)> remained old.", "<script>alert(1)</script> was <b>old</b>."]
)
def test_text_is_never_parsed_as_html(page, text):
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    simplified(page, text)
    assert page.locator("#sentences img, #sentences script").count() == 0
    exported = downloaded(page, "#export-html")
    assert "<script>alert" not in exported
    assert "<img src=x" not in exported
    assert asked == []


def test_words_to_keep_and_glossary_are_applied(page):
    page.click(".user-constraints summary")
    page.fill("#keep", "commenced")
    page.fill("#glossary", "physician = medic")
    simplified(page, "The physician commenced the procedure.")
    asked = page.locator(".edits li[data-status]").all_inner_texts()
    assert any("keep commenced" in " ".join(one.split()) for one in asked)
    assert any("physician → medic" in " ".join(one.split()) for one in asked)


@pytest.mark.parametrize("glossary", ["physician = medic", "physician\tmedic"], ids=["equals-sign", "tab"])
def test_a_glossary_has_an_equals_sign_or_a_tab_as_in_the_shell(page, glossary):
    page.click(".user-constraints summary")
    page.fill("#glossary", f"\n{glossary}\n")
    page.fill("#text", "The physician commenced the procedure.")
    with page.expect_request("**/v1/plan") as sent:
        page.click("#go")
    assert sent.value.post_data_json["glossary"] == [["physician", "medic"]]


@pytest.mark.parametrize("entry", ["physician", "physician =", "a = b = c", "a\tb\tc"])
def test_an_entry_of_the_glossary_without_two_sides_is_named_by_its_line(page, entry):
    page.click(".user-constraints summary")
    page.fill("#glossary", f"commenced = began\n\n{entry}")
    page.fill("#text", "The physician commenced the procedure.")
    page.click("#go")
    page.wait_for_selector("#alert:not(:empty)")
    assert "Glossary, line 3" in page.inner_text("#alert")


def test_readability_is_requested_only_if_not_in_the_answer(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "readability" in request.url else None)

    def settled():
        page.wait_for_timeout(600)  # the page waits 300 milliseconds before it asks
        return len(asked)

    simplified(page)
    page.wait_for_selector("#stop", state="hidden")
    figures = page.inner_text("#readability")
    assert settled() == 0
    assert "→" in figures
    page.locator(".sentence .accept").first.click()
    assert settled() == 0
    page.locator(".sentence").first.get_by_label("Use the original").check()
    assert settled() == 1
    assert page.inner_text("#readability") != figures
    page.locator(".sentence .accept").nth(1).click()
    assert settled() == 1


def test_the_api_documentation_works_without_another_server(page, address):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.click("footer a")
    page.wait_for_selector(".opblock")
    assert page.title() == "redraft: API documentation"
    assert page.locator(".opblock").count() == 6
    operation = page.locator(".opblock", has_text="/v1/readability")
    operation.locator("button").first.click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    operation.locator(".live-responses-table", has_text='"words_per_sentence"').wait_for()
    operation.locator(".tablinks", has_text="Schema").first.click()
    assert {url.startswith((address, "data:")) for url in asked} == {True}
    assert page.said == []


def test_a_phone_needs_no_sideways_scrolling(browser, address):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.set_default_timeout(WAIT)
    page.goto(address)
    simplified(page, TEXT + " See https://example.org/a/very/long/address/that/no/phone/has/room/for?really=no.")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_an_error_is_shown_with_its_hint(page):
    page.fill("#text", "word " * 5000)
    page.click("#go")
    page.wait_for_selector("#alert:not(:empty)")
    assert "limit" in page.inner_text("#alert")
    assert page.locator("#stop").is_hidden()


def test_other_versions_are_fetched_when_asked_for(page):
    simplified(page, "The physician commenced the procedure notwithstanding the patient's apprehension.")
    page.wait_for_selector(".sentence[aria-busy=false]")
    first, choices = output(page, 0), page.locator(".sentence .candidates input[type=radio]")
    before = choices.count()
    sent, answer = asked_by_the_page(page, lambda: page.click("[data-key=others]"))
    page.wait_for_function("count => document.querySelectorAll('.candidates input').length > count", arg=before)
    texts = {candidate["output"] for candidate in answer["candidates"]}
    assert choices.count() == before + len(texts - {first})
    assert output(page, 0) == first  # the choice stays
    assert page.locator("[data-key=others]").is_hidden()
    page.locator(".sentence .candidates label").nth(1).click()
    assert changed(page, 0, first) in texts
    assert sent["source"].startswith("The physician")
    assert page.said == []
