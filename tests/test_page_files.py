"""Documents on the page as a person uses them, from the file to the export; accessibility."""

import io
import time
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from page_actions import (
    SHORT,
    TEXT,
    asked_by,
    decide,
    exported,
    exported_text,
    finished,
    needs_weights,
    opened_part,
    output,
    simplified,
    source,
    target,
    word,
)

pytestmark = needs_weights
LETTER = Path(__file__).parents[1] / "examples" / "letter.docx"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# The texts of the blocks of a column, without the marks of the page.
BLOCKS = """side => [...document.querySelectorAll(`#rows .${side} .block`)].map(block => {
  const copy = block.cloneNode(true);
  copy.querySelectorAll('.badge, .seal, .split').forEach(mark => mark.remove());
  return copy.textContent; })"""


def opened(page, path):
    page.set_input_files("#open-file", path)
    page.wait_for_selector("#work", state="visible")
    finished(page)


def word_texts(content):
    """The paragraphs of a Word document with all tracked changes accepted, and with all rejected."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        body = etree.fromstring(archive.read("word/document.xml"))
        comments = etree.fromstring(archive.read("word/comments.xml"))
    texts = ([], [])
    for paragraph in body.iter(f"{W}p"):
        for texts_of, ignored in zip(texts, (f"{W}del", f"{W}ins"), strict=True):
            runs = [run for run in paragraph.iter(f"{W}r") if not list(run.iterancestors(ignored))]
            pieces = {f"{W}t": lambda node: node.text or "", f"{W}delText": lambda node: node.text or "",
                      f"{W}br": lambda _: "\n", f"{W}tab": lambda _: "\t"}  # fmt: skip
            text = "".join(pieces[node.tag](node) for run in runs for node in run if node.tag in pieces)
            if text:
                texts_of.append(text)
    return *texts, ["\n".join("".join(p.itertext()) for p in one.iter(f"{W}p")) for one in comments]


def number_of(page, text):
    """The number of the sentence that contains a text."""
    return int(page.locator(".s", has_text=text).first.get_attribute("data-id")[1:])


def test_a_word_document_from_opening_to_tracked_changes(page):
    opened(page, LETTER)
    assert page.input_value("#title") == "letter"
    assert page.locator("#rows .target table tr").count() == 4
    assert page.locator("#rows .target [role=heading]").count() > 5
    assert page.locator("#rows .source .bold", has_text="terminate").count() == 1
    assert page.locator("#rows .target ins.bold", has_text="end").count() >= 1  # the formatting is kept
    assert page.locator("#rows .target .list-item").first.get_attribute("data-marker") == "1."
    originals = [text for text in page.evaluate(BLOCKS, "source") if text]

    # Replace a phrase.
    number = number_of(page, "Housing allowance is granted")
    word(page, number, "granted").click()
    page.keyboard.press("Shift+ArrowRight")
    page.fill("[data-key=own-words]", "given for")
    asked_by(page, lambda: page.keyboard.press("Enter"))
    assert "given for" in output(page, number)
    # Reject a change, and undo that.
    other = number_of(page, "modified the maximum")
    before = output(page, other)
    word(page, other, "modified").click()
    asked_by(page, lambda: page.get_by_role("button", name="Reject: modified").first.click())
    assert "modified" in output(page, other)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    assert output(page, other) == before
    # Accept one sentence, write another, reload.
    word(page, other, "modified").click()
    page.click("#accept")
    own = number_of(page, "Our staff will be pleased")
    word(page, own, "staff").click()
    opened_part(page, "texts").get_by_label("Write it yourself").check()
    page.fill("textarea.own", "We are glad to help you with the form.")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    finished(page)
    assert "given for" in output(page, number)

    accepted, rejected, comments = word_texts(exported(page, "docx"))
    assert accepted == [text for text in page.evaluate(BLOCKS, "target") if text]
    assert rejected == originals
    assert any("We are glad to help you with the form." in text for text in accepted)
    assert any("granted for → given for" in comment for comment in comments)
    assert any("modified" in comment and "Not reviewed" not in comment for comment in comments)
    assert any("Not reviewed" in comment for comment in comments)
    assert page.said == []


def test_a_letter_is_reviewed_by_keyboard_in_less_than_three_minutes(page):
    began = time.monotonic()
    opened(page, LETTER)
    page.keyboard.press("n")
    changed = int(page.inner_text("#counter").split(" of ")[1].split()[0])
    assert changed > 10
    for _ in range(changed):
        page.keyboard.press("a")
    assert page.inner_text("#counter").startswith(f"{changed} of {changed} changed sentences reviewed")
    *_, comments = word_texts(exported(page, "docx"))
    assert not any("Not reviewed" in comment for comment in comments)
    assert time.monotonic() - began < 180 - 4 * changed  # leaves an editor four seconds to read each sentence


def test_a_long_table_and_blank_paragraphs_are_shown(page, tmp_path):
    import docx

    document = docx.Document()
    for row, line in enumerate(document.add_table(rows=60, cols=6).rows):
        for column, cell in enumerate(line.cells):
            cell.text = f"Item {row % 3}.{column}"
    for _ in range(120):
        document.add_paragraph("")
    document.add_paragraph(SHORT)
    document.save(str(tmp_path / "table.docx"))
    opened(page, tmp_path / "table.docx")
    assert page.locator("#rows .source td").count() == 360
    assert "commenced" not in page.locator(".t").last.inner_text()
    assert page.said == []


@pytest.mark.parametrize("kind", ["odt", "html", "md", "txt", "docx"])
def test_a_pasted_text_is_exported_in_every_format(page, kind):
    simplified(page, TEXT)
    content = exported(page, kind)
    texts = [output(page, 1), output(page, 2)]
    if kind == "docx":
        accepted, rejected, _ = word_texts(content)
        assert texts == [text for text in accepted if text in texts]
        assert TEXT.split("\n\n") == [text for text in rejected if text in TEXT]
    elif kind == "odt":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            shown = "".join(etree.fromstring(archive.read("content.xml")).itertext())
        assert all(text in shown for text in texts)
    elif kind == "html":
        assert "<del>" in content.decode()
        assert "<ins>" in content.decode()
    else:
        assert all(text in content.decode() for text in texts)


def test_a_markdown_file_is_dropped_and_exported_with_its_marks(page):
    text = "# Before use\n\nThe **physician** commenced the procedure.\n\n- They purchased *40* vehicles.\n"
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.items.add(new File([text], 'note.md', { type: 'text/markdown' }));
          document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        text,
    )
    page.wait_for_selector("#work", state="visible")
    finished(page)
    assert page.locator("#rows .source .bold").all_inner_texts() == ["physician"]
    assert page.locator("#rows .target ins.bold").all_inner_texts() == ["doctor"]
    content = exported(page, "md").decode()
    assert content.startswith("# Before use\n")
    assert "The doctor " in content.replace("*", "")
    assert "*40*" in content


def test_the_text_of_a_pdf_is_opened_and_exported_as_a_new_document(page, browser, tmp_path):
    printed = browser.new_page()
    printed.set_content(f"<p>{SHORT}</p>")
    (tmp_path / "print.pdf").write_bytes(printed.pdf())
    printed.context.close()
    opened(page, tmp_path / "print.pdf")
    assert "commenced" not in output(page, 1)
    assert page.locator("#notes li").count() > 0
    accepted, *_ = word_texts(exported(page, "docx"))
    assert output(page, 1) in accepted


@pytest.mark.parametrize(
    "name, content",
    [
        ("broken.docx", b"PK\3\4 no archive"),
        ("picture.png", b"\x89PNG"),
        ("empty.txt", b" \n"),
        ("old.doc", b"\xd0\xcf"),
    ],
)
def test_a_file_that_cannot_be_opened_is_named(page, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    page.set_input_files("#open-file", tmp_path / name)
    page.wait_for_selector("#alert:not(:empty)")
    assert page.locator("#start").is_visible()
    assert len(page.inner_text("#alert").splitlines()[0]) > 20
    page.get_by_role("button", name="Dismiss").click()
    assert page.inner_text("#starting") == ""


def test_a_document_is_renamed_copied_and_printed(page):
    simplified(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#export-menu summary")
    page.click("#copy")
    page.locator("#saved", has_text="Copied").wait_for()
    assert page.evaluate("() => navigator.clipboard.readText()") == exported_text(page)
    page.emulate_media(media="print")
    assert page.locator("#rail").is_hidden()
    assert page.locator(".top").is_hidden()
    assert page.locator("#rows .target").first.is_visible()


def violations(page):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(one["id"], node["html"][:200]) for one in found for node in one["nodes"]]


def test_the_page_is_accessible_by_axe(browser, page_address):
    # Only here: axe is injected, which the content security policy forbids.
    page = browser.new_page(viewport={"width": 1200, "height": 900}, bypass_csp=True)
    page.goto(page_address)
    page.wait_for_selector("body[data-ready]")
    assert violations(page) == []
    opened(page, LETTER)
    assert violations(page) == []
    number = number_of(page, "Housing allowance is granted")
    decide(page, number, "granted", "given")
    finished(page)
    for part in ("texts", "found", "kept"):
        opened_part(page, part)
    page.get_by_label("Write it yourself").check()
    page.click("#settings summary")
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.click("#accept")
    page.set_viewport_size({"width": 390, "height": 800})
    assert violations(page) == []
    for name in ("help", "lists"):
        page.click(f"#{name}-open")
        assert violations(page) == []
        page.click(f"#{name}-close")
    page.click("#home")
    page.wait_for_selector("#document-list li")
    assert violations(page) == []
    page.context.close()


def test_nothing_is_asked_of_another_server_and_the_policy_is_kept(page, page_address):
    broken = []
    page.on("console", lambda message: broken.append(message.text) if "Security Policy" in message.text else None)
    opened(page, LETTER)
    source(page, 9).locator(".w").first.click()
    target(page, 9).click()
    for kind in ("docx", "txt"):
        exported(page, kind)
    assert {url.startswith((page_address, f"blob:{page_address}", "data:")) for url in page.asked} == {True}
    assert broken == []
    policy = page.request.get(page_address).headers["content-security-policy"]
    assert policy == "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
