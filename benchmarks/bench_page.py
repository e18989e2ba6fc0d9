"""The page in Chromium: milliseconds from the click to the first and the last sentence, and of a decision on a word.

python -m benchmarks.bench_page --text FILE --out benchmarks/page_cpu.json
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.bench_search import cpu_name
from benchmarks.bench_service import wait_for

# When each sentence got its text, in milliseconds since the click.
WATCH = """() => {
  window.times = [];
  const started = performance.now();
  new MutationObserver(() => {
    const done = document.querySelectorAll('.t[aria-busy=false][data-text]').length;
    while (window.times.length < done) window.times.push(performance.now() - started);
  }).observe(document.querySelector('#rows'), { subtree: true, childList: true, attributes: true });
  document.querySelector('#go').click();
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=Path("experiments/requests/out_of_domain_8.txt"))
    parser.add_argument("--sentences", type=int, default=13, help="from the beginning of the text")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    text = "\n\n".join(args.text.read_text(encoding="utf-8").splitlines()[: args.sentences])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "redraft.cli", "serve", "--port", str(port), "--device", "cpu"]
    service = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/health")
        with sync_playwright() as playwright:
            path = shutil.which("chromium") or shutil.which("chromium-browser")
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            runs = [measured(browser.new_page(), f"http://127.0.0.1:{port}", text, args) for _ in range(args.repeats)]
            browser.close()
    finally:
        service.terminate()
        service.wait(30)
    report = {
        "machine": cpu_name(),
        "sentences": args.sentences,
        "first run": runs[0],
        "median ms": {name: statistics.median(run[name] for run in runs) for name in runs[0]},
    }
    print(json.dumps(report, indent=1))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def measured(page: Page, address: str, text: str, args: argparse.Namespace) -> dict[str, float]:
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.fill("#text", text)
    page.evaluate(WATCH)
    page.wait_for_function("count => window.times.length >= count", arg=args.sentences, timeout=120_000)
    times = page.evaluate("window.times")
    page.wait_for_selector("#work[aria-busy=false]")
    page.locator(".s[data-id=s2] .w").nth(2).click()
    keep = page.locator("[data-key=keep]")
    with page.expect_response("**/v1/simplify") as answered:
        began = time.perf_counter()
        keep.click()
    answered.value.finished()
    page.wait_for_selector(".t[data-id=s2][aria-busy=false]")
    decision = 1e3 * (time.perf_counter() - began)
    page.context.close()
    return {"first sentence": round(times[0]), "last sentence": round(times[-1]), "word decision": round(decision)}


if __name__ == "__main__":
    main()
