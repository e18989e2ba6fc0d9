"""Makes the pictures of the page in this folder, with Chromium and the bundled model.

redraft serve, then: python docs/pictures/make.py http://127.0.0.1:8000
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).parent
LETTER = FOLDER.parents[1] / "examples" / "letter.docx"


def main(address: str) -> None:
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = opened_letter(browser, address, width=1280, height=800)
        page.locator(".w", has_text="obliged").click()
        page.screenshot(path=FOLDER / "page.png")
        page.locator("[data-part=found] summary").click()
        page.locator("[data-key=search]").click()
        page.wait_for_selector("#search-figure tr[data-outcome]")
        page.locator("#next").press("Enter")
        page.screenshot(path=FOLDER / "search.png")
        page.click("#search-close")
        page.locator("#sheet").evaluate("node => node.focus()")
        for key in "naar":  # next, accept, accept, reject
            page.keyboard.press(key)
        page.screenshot(path=FOLDER / "review.png")
        phone = opened_letter(browser, address, width=390, height=780)
        phone.locator(".t", has_text="twelve months").click()
        phone.screenshot(path=FOLDER / "phone.png")
        browser.close()


def opened_letter(browser: Browser, address: str, *, width: int, height: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.set_input_files("#open-file", LETTER)
    page.wait_for_selector("#work", state="visible")
    page.wait_for_selector("#work[aria-busy=false]", timeout=120_000)
    page.wait_for_selector("#figures", state="visible")
    return page


if __name__ == "__main__":
    main(sys.argv[1])
