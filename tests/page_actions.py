"""What tests do on the page, as a person would."""

import json

import pytest

from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.models import bundled

needs_weights = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")
SHORT = "The physician commenced the procedure."
TEXT = f"{SHORT}\n\nHe was discharged on 12 May 2019."


def simplified(page, text=TEXT, *, wait=True):
    """The page with a text; `wait`: until every sentence is rewritten."""
    page.fill("#text", text)
    page.click("#go")
    page.wait_for_selector("#work", state="visible")
    if wait:
        finished(page)
    return page


def finished(page):
    page.wait_for_selector("#work[aria-busy=false]")
    page.wait_for_selector(".t[aria-busy=true]", state="detached")


def source(page, number):
    return page.locator(f".s[data-id=s{number}]")


def target(page, number):
    return page.locator(f".t[data-id=s{number}]")


def output(page, number):
    return target(page, number).get_attribute("data-text")


def outputs(page):
    return page.locator(".t").evaluate_all("nodes => nodes.map(node => node.dataset.text)")


def changed(page, number, before):
    page.wait_for_function(
        "([id, old]) => { const node = document.querySelector(`.t[data-id=${id}]`);"
        " return node.dataset.text !== old && node.getAttribute('aria-busy') === 'false'; }",
        arg=[f"s{number}", before],
    )
    return output(page, number)


def word(page, number, text):
    return source(page, number).locator(".w", has_text=text).first


def decide(page, number, name, choice):
    """Click a word, then a button of the panel; or, if there is none with this name, type the choice."""
    word(page, number, name).click()
    item = page.locator(".phrase").get_by_role("button", name=choice)
    if item.count():
        item.first.click()
    else:
        page.fill("[data-key=own-words]", choice)
        page.keyboard.press("Enter")


def asked_by(page, act, path="simplify"):
    """The request that an action causes, and its answer."""
    with page.expect_response(f"**/v1/{path}") as waiting:
        act()
    finished(page)
    return waiting.value.request.post_data_json, waiting.value.json()


def opened_part(page, name):
    """A folded part of the panel, unfolded."""
    part = page.locator(f"[data-part={name}]")
    if part.get_attribute("open") is None:
        part.locator("summary").click()
    return part


def exported(page, kind):
    """The bytes of an exported file."""
    page.click("#export-menu summary")
    with page.expect_download() as waiting:
        page.click(f"#export-{kind}")
    return waiting.value.path().read_bytes()


def exported_text(page):
    return exported(page, "txt").decode()


def exported_plans(page):
    return [json.loads(line) for line in exported(page, "plan").splitlines()]


def with_answers(page, change):
    """Pass the sentences of every answer of /v1/simplify through `change(number, sentence)`."""

    def answered(route):
        answer = route.fetch().json()
        for number, sentence in enumerate(answer["sentences"]):
            change(number, sentence)
        route.fulfill(json=answer)

    page.route("**/v1/simplify", answered)
