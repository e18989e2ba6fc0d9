"""The pages: snippets print what is shown, tables of settings and files are whole, links lead somewhere."""

import contextlib
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from redraft import DecodeConfig
from redraft.cli import settings
from redraft.experiment.description import read_description
from redraft.experiment.runs import all_runs

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


@dataclass
class Snippet:
    page: str
    line: int  # of the fence
    language: str
    text: str
    shown: str | None  # the ```text block directly below
    runs: bool  # no <!-- not run: … --> above

    def __str__(self):
        return f"{self.page}:{self.line}"


def snippets(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    found, at = [], 0
    while at < len(lines):
        if lines[at].startswith("```"):
            end = next(n for n in range(at + 1, len(lines)) if lines[n] == "```")
            text = "".join(f"{line}\n" for line in lines[at + 1 : end])
            language = lines[at].removeprefix("```")
            if language == "text" and found and found[-1].end == at - 1:
                found[-1].shown = text
            else:
                runs = not lines[at - 1].startswith("<!-- not run: ")
                found.append(Snippet(page.name, at + 1, language, text, None, runs))
            found[-1].end = end
            at = end
        at += 1
    return found


SNIPPETS = {page.name: snippets(page) for page in PAGES}


def test_snippets_are_of_known_kinds():
    known = {"python", "console", "sh", "json", "toml", "text"}
    assert [str(one) for page in SNIPPETS.values() for one in page if one.language not in known] == []
    assert [str(one) for page in SNIPPETS.values() for one in page if one.language == "sh" and one.runs] == []
    kinds = {one.language for page in SNIPPETS.values() for one in page if one.runs}
    assert {"python", "console"} <= kinds


def test_descriptions_of_experiments_can_be_read(tmp_path):
    shown = [one for page in SNIPPETS.values() for one in page if one.language == "toml"]
    assert shown
    for one in shown:
        (tmp_path / "shown.toml").write_text(one.text, encoding="utf-8")
        assert list(all_runs(read_description(tmp_path / "shown.toml")))


@pytest.mark.parametrize("page", SNIPPETS)
def test_python_snippets_print_what_is_shown(page, monkeypatch):
    """Snippets of a page share their names, as a reader who types them in one session would."""
    monkeypatch.chdir(ROOT)
    names = {"__name__": "__main__"}
    for snippet in SNIPPETS[page]:
        if snippet.language != "python":
            continue
        code = compile(snippet.text, str(snippet), "exec")
        if snippet.runs:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, names)
            assert printed.getvalue() == (snippet.shown or ""), snippet


@pytest.mark.parametrize(
    "snippet", [one for page in SNIPPETS.values() for one in page if one.language == "console" and one.runs], ids=str
)
def test_console_snippets_print_what_is_shown(snippet, tmp_path):
    """Each `$ command` is run by a shell in the root of the project; what it prints stands below it."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    for part in re.split(r"^\$ ", snippet.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.replace("/tmp/", f"{tmp_path}/").partition("\n")
        done = subprocess.run(
            ["sh", "-c", f"{{ {command}; }} 2>&1"], cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True
        )
        assert done.stdout.decode("utf-8") == shown, f"{snippet}: {command}"


def test_the_readme_lists_every_setting():
    rows = [
        f"| `{field.name}` | {settings.default_of(field.name)} | {field.metadata['help']} |"
        for field in fields(DecodeConfig)
    ]
    assert "\n".join(rows) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_architecture_names_every_file():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "src" / "redraft").rglob("*.py")} - {"__init__.py"}
    assert sorted(name for name in files if f"| `{name}` |" not in page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if "://" in target:
            continue
        other = page.parent / file if file else page
        assert other.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings]
