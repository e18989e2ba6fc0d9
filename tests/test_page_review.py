"""The review on the page: order, keyboard, counter, warnings, and changes that no edit asked for."""

import pytest

from page_actions import (
    SHORT,
    TEXT,
    asked_by,
    changed,
    decide,
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

pytestmark = needs_weights
THREE = "The physician commenced the procedure.\n\nThey purchased 40 vehicles.\n\nThey commenced the inquiry."


def with_alarms(page, risks):
    """The sentences with these first words get an alarm with this risk."""

    def alarmed(_, sentence):
        for beginning, risk in risks.items():
            if sentence["source"].startswith(beginning):
                sentence["meaning"] = {"risk": risk, "alarm": True, "words": ["not"], "why": "the output lacks “not”",
                                       "spans": {"source": [], "output": [[0, 3]]}}  # fmt: skip

    with_answers(page, alarmed)


def selected(page):
    return page.inner_text("#panel-title").split()[1]


def test_sentences_at_risk_come_first(page):
    with_alarms(page, {"They purchased": 0.7, "They commenced": 0.9})
    simplified(page, THREE)
    assert page.inner_text("#counter") == "0 of 3 changed sentences reviewed · 2 at risk"
    assert [one.split("\n")[0] for one in page.locator("#risk-list button").all_inner_texts()] == [
        "Sentence 3",
        "Sentence 2",
    ]
    assert "(risk 90 %): the output lacks “not”" in page.inner_text("#risk-list")
    assert target(page, 3).locator(".badge").count() == 1
    assert target(page, 3).locator(".risk").inner_text() == output(page, 3)[:3]
    assert target(page, 1).locator(".badge").count() == 0
    order = []
    for _ in range(4):
        page.keyboard.press("n")
        order.append(selected(page))
    assert order == ["3", "2", "1", "3"]
    page.keyboard.press("p")
    assert selected(page) == "1"
    page.keyboard.press("k")
    page.keyboard.press("j")
    assert selected(page) == "1"
    assert page.said == []


def test_a_review_by_keyboard(page):
    with_alarms(page, {"They purchased": 0.7})
    simplified(page, THREE)
    before = outputs(page)
    page.keyboard.press("n")
    page.keyboard.press("r")  # the sentence at risk: back to the original
    assert output(page, 2) == "They purchased 40 vehicles."
    assert selected(page) == "1"  # on to the next
    page.keyboard.press("a")
    assert selected(page) == "3"
    assert page.inner_text("#counter") == "2 of 3 changed sentences reviewed"
    page.click("#export-menu summary")
    page.locator("#export-note", has_text="1 changed sentence not reviewed yet.").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert page.inner_text("#counter") == "3 of 3 changed sentences reviewed"
    assert exported_text(page) == f"{before[0]}\n\nThey purchased 40 vehicles.\n\n{before[2]}"
    page.click("#export-menu summary")
    page.locator("#export-note", has_text="Everything is reviewed.").wait_for()
    page.keyboard.press("Escape")
    word(page, 2, "They").click()
    page.keyboard.press("a")  # the rejected text after all
    assert output(page, 2) == before[1]
    assert target(page, 2).locator(".seal").get_attribute("aria-label") == "accepted"
    page.click("#accept")  # taken back
    assert page.inner_text("#counter") == "2 of 3 changed sentences reviewed · 1 at risk"


def test_single_keys_can_be_switched_off_and_do_nothing_in_text_boxes(page):
    simplified(page, THREE)
    word(page, 1, "The").click()
    page.fill("[data-key=own-words]", "")
    page.locator("[data-key=own-words]").press_sequentially("arn")
    assert page.input_value("[data-key=own-words]") == "arn"
    assert page.inner_text("#counter") == "0 of 3 changed sentences reviewed"
    page.click("#settings summary")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert page.inner_text("#counter") == "0 of 3 changed sentences reviewed"


def test_all_without_risk_are_accepted_in_one_step(page):
    with_alarms(page, {"They purchased": 0.7})
    simplified(page, THREE)
    page.get_by_role("button", name="Accept all without risk (2)").click()
    assert page.inner_text("#counter") == "2 of 3 changed sentences reviewed · 1 at risk"
    assert page.locator("#accept-safe").is_disabled()
    page.keyboard.press("Control+z")
    assert page.inner_text("#counter") == "0 of 3 changed sentences reviewed · 1 at risk"


def test_a_sentence_that_is_computed_again_is_not_reviewed_any_more(page):
    simplified(page, SHORT)
    word(page, 1, "procedure").click()
    page.click("#accept")
    assert "1 of 1" in page.inner_text("#counter")
    asked_by(page, lambda: decide(page, 1, "procedure", "operation"))
    assert "0 of 1" in page.inner_text("#counter")


def test_a_change_that_no_edit_asked_for_can_be_rejected(page):
    def rewritten(_, sentence):
        if "purchased" in sentence["source"]:
            sentence["output"] = sentence["output"].replace("They", "So they").replace(".", " today.")

    with_answers(page, rewritten)
    simplified(page, "They purchased 40 vehicles.")
    made = output(page, 1)
    assert made.startswith("So they")
    word(page, 1, "They").click()
    unasked = page.locator("[data-status=unasked]")
    assert unasked.count() == 2
    assert "no edit asked for it" in unasked.first.inner_text()
    assert target(page, 1).locator("ins.unasked").all_inner_texts() == ["So they", " today"]
    unasked.first.get_by_role("button").click()
    assert output(page, 1) == made.replace("So they", "They")
    assert unasked.count() == 1
    unasked.first.get_by_role("button").click()
    assert output(page, 1) == made.replace("So they", "They").replace(" today", "")
    page.locator(".rejected").get_by_role("button", name="Restore: They → So they").click()
    assert output(page, 1) == made.replace(" today", "")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    assert output(page, 1) == made
    assert page.locator("[data-status=satisfied]").count() >= 1  # the changes with an edit have it as their owner


def test_own_texts_are_taken_as_they_are_and_warned_about_unused_terms(page):
    page.click("#lists-open")
    page.fill("#keep", "# names\n\nprocedure\n")
    page.fill("#glossary", "physician = medic")
    page.click("#lists-close")
    simplified(page, SHORT)
    assert "medic" in output(page, 1)
    assert page.locator("#risks").is_hidden()
    word(page, 1, "The").click()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    page.fill("textarea.own", "The doctor began.")
    assert output(page, 1) == "The doctor began."
    assert page.evaluate("() => document.activeElement.className") == "own"
    page.keyboard.press("Escape")
    warnings = page.inner_text("#risk-list")
    assert "the keep list has “procedure”" in warnings
    word(page, 1, "The").click()
    assert "the glossary has “medic” for “physician”" in page.inner_text(".warnings")


@pytest.mark.parametrize("glossary", ["physician = medic", "# terms\nphysician\tmedic"], ids=["equals-sign", "tab"])
def test_lists_are_loaded_and_saved_as_the_files_of_the_shell(page, tmp_path, glossary):
    path = tmp_path / "terms.tsv"
    path.write_text(glossary, encoding="utf-8")
    page.click("#lists-open")
    page.set_input_files("#load-glossary", path)
    page.wait_for_function("() => document.querySelector('#glossary').value.includes('medic')")
    page.fill("#keep", "procedure\n/[A-Z]{2,}/\n")
    assert "1 pattern (" in page.inner_text("#list-note")
    saved = {}
    for name in ("keep", "glossary"):
        with page.expect_download() as waiting:
            page.click(f"#save-{name}")
        saved[name] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(saved[name])
    from redraft.plan.user_constraints import UserConstraints

    lists = UserConstraints.read(keep=saved["keep"], glossary=saved["glossary"])
    edits = [edit.to_json() for edit in lists.edits(SHORT)]
    assert {edit.get("substitute", edit.get("insert")) for edit in edits} == {"physician", "procedure"}
    page.click("#lists-close")
    page.fill("#text", SHORT)
    with page.expect_request("**/v1/plan") as sent:
        page.click("#go")
    assert sent.value.post_data_json["glossary"] == [["physician", "medic"]]
    assert sent.value.post_data_json["keep"] == ["procedure"]


@pytest.mark.parametrize("entry", ["physician", "physician =", "a = b = c", "a\tb\tc"])
def test_an_entry_of_the_glossary_without_two_sides_is_named_by_its_line(page, entry):
    page.click("#lists-open")
    page.fill("#glossary", f"commenced = began\n\n{entry}")
    page.click("#lists-close")
    page.fill("#text", SHORT)
    page.click("#go")
    page.wait_for_selector("#alert:not(:empty)")
    assert "Glossary, line 3" in page.inner_text("#alert")


def test_lists_apply_to_the_open_document_and_only_what_they_change_is_computed(page):
    simplified(page, THREE)
    untouched = output(page, 2)
    page.click("#lists-open")
    page.fill("#glossary", "physician = medic")
    with page.expect_response("**/v1/simplify") as computed:
        page.click("#lists-apply")
    finished(page)
    assert [one["source"] for one in computed.value.request.post_data_json["sentences"]] == [SHORT]
    assert "medic" in output(page, 1)
    assert output(page, 2) == untouched
    page.keyboard.press("Control+z")
    assert "medic" not in output(page, 1)


def test_the_glossary_applies_to_text_that_is_not_rewritten(page):
    page.click("#lists-open")
    page.fill("#glossary", "Hypertonie = Bluthochdruck")
    page.click("#lists-close")
    simplified(page, "Der Arzt verschrieb dem Patienten wegen Hypertonie ein Medikament.")
    assert output(page, 1) == "Der Arzt verschrieb dem Patienten wegen Bluthochdruck ein Medikament."
    source(page, 1).locator(".w").first.click()
    assert "Not rewritten" not in page.inner_text("#panel")


def test_the_source_and_the_new_text_take_turns_on_a_phone(browser, page_address):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(page_address)
    page.wait_for_selector("body[data-ready]")
    simplified(page, TEXT + " See https://example.org/a/very/long/address/that/no/phone/has/room/for?really=no.")
    assert page.locator("#rows .target").first.is_visible()
    assert page.locator("#rows .source").first.is_hidden()
    target(page, 1).click()
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    page.click("#show-source")
    assert page.locator("#rows .target").first.is_hidden()
    before = output(page, 1)
    decide(page, 1, "procedure", "operation")
    assert "operation" in changed(page, 1, before)
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    page.context.close()
