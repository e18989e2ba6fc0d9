"""Nothing on the page gets lost: undo and redo, reloading, several documents."""

import random

import pytest

from page_actions import (
    SHORT,
    TEXT,
    asked_by,
    decide,
    exported_text,
    finished,
    needs_weights,
    opened_part,
    output,
    outputs,
    simplified,
    target,
    word,
)

pytestmark = needs_weights
FOUR = f"{SHORT}\n\nThey purchased 40 vehicles. They commenced the inquiry.\n\nIt was an annual visit."
# Everything of the work that an editor sees.
SHOWN = """() => [...document.querySelectorAll('.t, .s')]
  .map(node => [node.className.replace(/ ?current/, ''), node.innerText])
  .concat([document.querySelector('#counter').innerText, document.querySelector('#strength').value])"""


def reloaded(page):
    page.reload()
    page.wait_for_selector("body[data-ready]")
    finished(page)


def random_decision(page, chance):
    """A decision of a random kind about a random sentence; every one is a step of the history."""
    number = chance.randint(1, 4)
    words = page.locator(f".s[data-id=s{number}] .w")
    words.nth(chance.randrange(1, words.count())).click()
    kind = chance.choice(
        ["keep", "delete", "split", "own words", "accept", "reject", "original", "write", "reject edit"]
    )
    if kind in ("keep", "delete", "split"):
        page.click(f"[data-key={kind}]")
    elif kind == "own words":
        page.fill("[data-key=own-words]", chance.choice(["it", "a thing"]))
        page.keyboard.press("Enter")
    elif kind in ("accept", "reject"):
        finished(page)
        page.click(f"#{kind}")
    elif kind == "reject edit" and page.locator(".edits .reject").count():
        page.locator(".edits .reject").first.click()
    elif page.locator("[data-part=texts]").count():
        choice = opened_part(page, "texts").get_by_label("Use the original" if kind != "write" else "Write it yourself")
        choice.click()


# Undoes or redoes all there is; returns the number of steps.
ALL = """name => { let steps = 0;
  for (const button = document.querySelector(`#${name}`); !button.disabled; steps += 1) button.click();
  return steps; }"""


def test_a_hundred_decisions_undone_and_redone_end_where_they_began(page):
    simplified(page, FOUR)
    page.keyboard.press("Escape")
    began = page.evaluate(SHOWN)
    chance = random.Random(0)
    for _ in range(100):
        random_decision(page, chance)
    finished(page)
    page.keyboard.press("Escape")
    ended = page.evaluate(SHOWN)
    assert ended != began
    undone = page.evaluate(ALL, "undo")
    assert undone >= 90  # choosing what is chosen already is no step
    finished(page)
    assert page.evaluate(SHOWN) == began
    assert page.evaluate(ALL, "redo") == undone
    finished(page)
    assert page.evaluate(SHOWN) == ended
    reloaded(page)  # the history itself is kept, too
    assert page.evaluate(SHOWN) == ended
    assert page.evaluate(ALL, "undo") == undone
    finished(page)
    assert page.evaluate(SHOWN) == began
    assert page.said == []


def test_undoing_computes_nothing_again(page):
    simplified(page)
    asked_by(page, lambda: decide(page, 1, "procedure", "operation"))
    made = output(page, 1)
    page.asked.clear()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    assert "operation" not in output(page, 1)
    assert "Undone: procedure → operation." in page.inner_text("#live")
    page.keyboard.press("Control+Shift+z")
    assert output(page, 1) == made
    assert not [url for url in page.asked if "simplify" in url]


def test_undo_in_a_text_box_undoes_typing_there(page):
    simplified(page)
    word(page, 1, "The").click()
    page.click("#accept")
    word(page, 2, "He").click()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    area = page.locator("textarea.own")
    area.press("End")
    area.press_sequentially(" Really")
    page.keyboard.press("Control+z")
    assert not area.input_value().endswith("Really")
    assert "1 of" in page.inner_text("#counter")  # the decision before stands
    area.fill("He left.")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")  # outside the box: the whole typed text is one step
    assert output(page, 2) != "He left."
    page.click("#home")
    page.fill("#text", "")
    page.locator("#text").press_sequentially("some words")
    page.keyboard.press("Control+z")
    assert page.input_value("#text") != "some words"


def test_a_reload_at_any_point_loses_nothing(page):
    page.locator("#text").press_sequentially("The physician")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.input_value("#text") == "The physician"
    page.fill("#text", FOUR)
    page.click("#go")
    page.wait_for_selector("#work", state="visible")
    reloaded(page)  # in the middle of the first run: it goes on
    assert None not in outputs(page)
    chance = random.Random(1)
    for _ in range(12):
        random_decision(page, chance)
        before = page.evaluate("() => document.querySelector('#undo').title")
        page.reload()  # at once, whatever is being computed or saved
        page.wait_for_selector("body[data-ready]")
        assert page.evaluate("() => document.querySelector('#undo').title") == before
    finished(page)
    shown = page.evaluate(SHOWN)
    reloaded(page)
    assert page.evaluate(SHOWN) == shown


def test_typing_of_an_own_text_survives_a_reload(page):
    simplified(page)
    word(page, 1, "The").click()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    page.locator("textarea.own").fill("The doctor")
    page.locator("textarea.own").press_sequentially("s began.")
    reloaded(page)
    assert output(page, 1) == "The doctors began."


def test_several_documents_are_kept_and_can_be_deleted(page):
    simplified(page, SHORT)
    page.fill("#title", "Letter")
    page.keyboard.press("Enter")
    page.click("#home")
    simplified(page, "They purchased 40 vehicles.")
    page.click("#home")
    page.locator("#document-list .open").nth(1).wait_for()
    names = page.locator("#document-list .open").all_inner_texts()
    assert names == ["They purchased 40 vehicles.", "Letter"]
    page.get_by_role("button", name="Letter", exact=True).click()
    finished(page)
    assert page.locator(".s").all_inner_texts() == [SHORT]
    page.click("#home")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_label("Delete Letter").click()
    page.get_by_role("button", name="Letter", exact=True).wait_for(state="detached")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#document-list .open").count() == 1


def test_a_document_is_open_in_one_tab_only(page, page_address):
    simplified(page, SHORT)
    asked_by(page, lambda: decide(page, 1, "procedure", "operation"))
    shown = output(page, 1)
    other = page.context.new_page()
    other.goto(page_address)
    other.locator("#document-list .open").click()
    finished(other)
    assert output(other, 1) == shown
    page.wait_for_selector("#start", state="visible")
    assert "another tab" in page.inner_text("#alert")
    other.keyboard.press("Control+z")
    assert "operation" not in output(other, 1)
    other.close()


def test_without_autosave_nothing_is_kept(page):
    page.click("#settings summary")
    page.get_by_label("Save in this browser").uncheck()
    page.keyboard.press("Escape")
    simplified(page, SHORT)
    decide(page, 1, "procedure", "operation")
    finished(page)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert asked == ["beforeunload"]  # the browser asks first
    assert page.locator("#start").is_visible()
    assert page.locator("#documents").is_hidden()
    assert page.input_value("#text") == ""


def test_own_texts_survive_an_aborted_run(page):
    simplified(page, f"{'The physician commenced the procedure. ' * 13}\n\nHe was discharged on 12 May 2019.")
    word(page, 14, "He").click()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    page.locator("textarea.own").press("End")
    page.locator("textarea.own").press_sequentially(" So he was.")
    page.click("#accept")  # the first click counts, although the cursor was in the box
    own = output(page, 14)
    assert own.endswith(" So he was.")
    page.route("**/v1/simplify", lambda route: None)
    page.click("#settings summary")
    with page.expect_response("**/v1/plan"):
        page.locator("#strength").press("Home")
    page.click("#stop")
    assert exported_text(page).endswith(f"\n\n{own}")
    page.unroute("**/v1/simplify")
    if page.locator("#continue").is_visible():
        page.click("#continue")
    finished(page)
    assert output(page, 14) == own
    assert target(page, 14).locator(".seal").count() == 1


@pytest.mark.parametrize("text", [TEXT, FOUR])
def test_only_sentences_that_changed_are_computed_again(page, text):
    simplified(page, text)
    page.asked.clear()
    request, _ = asked_by(page, lambda: decide(page, 1, "procedure", "operation"))
    assert [one["source"] for one in request["sentences"]] == [SHORT]
    assert sum("/v1/simplify" in url for url in page.asked) == 1
    assert not [url for url in page.asked if "/v1/plan" in url]
