"""The documentation: snippets print what is shown, tables of settings and files are complete, links resolve."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path

import pytest

import documentation_folder
import redraft
from free_ports import free_port, wait_for
from redraft import DecodeConfig
from redraft.cli import main
from redraft.cli import settings_options as settings
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
    mark: str  # "not run" or "run small" of <!-- not run: … --> above, or nothing

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
                mark = re.match("<!-- (not run|run small): ", lines[at - 1])
                found.append(Snippet(page.name, at + 1, language, text, None, mark[1] if mark else ""))
            found[-1].end = end
            at = end
        at += 1
    return found


SNIPPETS = {page.name: snippets(page) for page in PAGES}


ALL = [one for page in SNIPPETS.values() for one in page]
# CI does these, or has no GPUs and no cluster; tests/test_service_on_ray.py runs `redraft serve --on ray`.
NOT_RUN = (
    "make ", "pip install", "git clone", "docker ", "accelerate launch --", "redraft serve --on ray", "serve ", "ray ",
    "kubectl ",
)  # fmt: skip
# Commands that are "run small" have the options of the page, except for these.
SMALLER = [
    (r"--trials \d+", "--trials 1"),
    (r"(train-checker .*--out \w+)", r"\1 --steps 2"),
    (r"train-(aligner|planner)", r"train-\1 --epochs 1"),
    (r"\\\n +--pairs DATA(.*\\\n)*.*", ""),  # three teachers: tests/test_aligner_training.py has fewer pairs
    (r"--corpus asset --data DATA --references first (?=.*bertscore)", "--source complex.txt --reference simple.txt "),
]


def test_snippets_are_of_known_kinds():
    known = {"python", "console", "sh", "json", "toml", "text"}
    assert [str(one) for one in ALL if one.language not in known] == []
    assert [str(one) for one in ALL if one.language == "sh" and not one.mark] == []
    assert {"python", "console"} <= {one.language for one in ALL if not one.mark}


def test_all_commands_are_run_except_installation():
    lines = [(one, line) for one in ALL if one.mark == "not run" for line in one.text.splitlines()]
    assert [f"{one}: {line}" for one, line in lines if not line.startswith(NOT_RUN)] == []


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    documentation_folder.build(folder)
    return folder


@pytest.fixture
def bench(built, tmp_path):
    """A copy of the documentation folder for one snippet."""
    return shutil.copytree(built, tmp_path / "bench")


@pytest.mark.parametrize(
    "snippet", [one for one in ALL if one.mark == "run small" and "redraft serve" not in one.text], ids=str
)
def test_snippets_run_with_small_models_and_files(snippet, bench, monkeypatch):
    monkeypatch.chdir(bench)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    text = snippet.text
    for pattern, smaller in SMALLER:
        text = re.sub(pattern, smaller, text)
    if snippet.language == "python":
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, str(snippet), "exec"), {"__name__": "__main__"})
        return
    if snippet.language == "console":
        text = "\n".join(re.findall(r"^\$ (.*)", text, re.MULTILINE))
    for words in commands_of(text):
        run_in_process(words) if words[0] == "redraft" else subprocess.run(words, check=True, env=environment())


def commands_of(text):
    """The words of each line, continuation lines joined, without comments."""
    return filter(None, (shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines()))


def run_in_process(words):
    """`redraft …` with its `> FILE`, in this process: to import torch anew takes longer than most of them."""
    to = words.index(">") if ">" in words else len(words)
    name = words[to + 1] if to < len(words) else os.devnull
    with open(name, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
        assert main(words[1:to]) == 0, shlex.join(words)


def test_the_service_starts_and_answers_as_shown(monkeypatch):
    """Every `redraft serve` gets its own port; the other commands use the first service."""
    (snippet,) = [one for one in ALL if one.mark == "run small" and "redraft serve" in one.text]
    ports, running, answers = [], [], []
    try:
        for line in snippet.text.splitlines():
            command = line.partition("#")[0]
            if "redraft serve" in command:
                ports.append(free_port())
                command = f"exec env {command} --port {ports[-1]}"
                running.append(subprocess.Popen(["sh", "-c", command], env=environment(), stderr=subprocess.DEVNULL))
                wait_for(f"http://127.0.0.1:{ports[-1]}/health")
            else:
                command = command.replace("8000", str(ports[0]))
                done = subprocess.run(["sh", "-ec", command], env=environment(), capture_output=True)
                answers.append(json.loads(done.stdout))
                assert done.returncode == 0
    finally:
        for service in running:
            service.terminate()
            service.wait(30)
    assert len(running) == 2
    assert [answer["sentences"][0]["source"] for answer in answers] == ["They purchased 40 vehicles."]


def environment():
    """An environment in which a shell finds `redraft`, and which is offline."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "HF_HUB_OFFLINE": "1"}


def test_descriptions_of_experiments_can_be_read(tmp_path):
    shown = [one for page in SNIPPETS.values() for one in page if one.language == "toml"]
    assert shown
    for one in shown:
        (tmp_path / "shown.toml").write_text(one.text, encoding="utf-8")
        assert list(all_runs(read_description(tmp_path / "shown.toml")))


@pytest.mark.parametrize("page", SNIPPETS)
def test_python_snippets_print_what_is_shown(page, monkeypatch):
    """Snippets of a page share their variables, as in one interactive session."""
    monkeypatch.chdir(ROOT)
    names = {"__name__": "__main__"}
    for snippet in SNIPPETS[page]:
        if snippet.language != "python":
            continue
        code = compile(snippet.text, str(snippet), "exec")
        if not snippet.mark:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, names)
            assert printed.getvalue() == (snippet.shown or ""), snippet


@pytest.mark.parametrize("snippet", [one for one in ALL if one.language == "console" and not one.mark], ids=str)
def test_console_snippets_print_what_is_shown(snippet, tmp_path):
    """Each `$ command` is run by a shell in the root of the project; its output is below it on the page."""
    for part in re.split(r"^\$ ", snippet.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.replace("/tmp/", f"{tmp_path}/").partition("\n")
        done = subprocess.run(["sh", "-c", f"{{ {command}; }} 2>&1"], cwd=ROOT, env=environment(), capture_output=True)
        assert done.stdout.decode("utf-8") == shown, f"{snippet}: {command}"


def test_the_page_of_settings_lists_all_of_them():
    rows = [
        f"| `{field.name}` | {settings.default_of(field.name)} | {field.metadata['help']} |"
        for field in fields(DecodeConfig)
    ]
    assert "\n".join(rows) in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def test_the_reference_names_what_exists_and_all_public_names():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    described = {}
    for name, members in re.findall(r"^::: (\S+)(?:\n    options: \{members: \[(.*)\]\})?$", page, re.MULTILINE):
        module, _, attribute = name.rpartition(".")
        described[attribute] = getattr(import_module(module), attribute)
        for member in filter(None, members.split(", ")):
            assert hasattr(described[attribute], member), f"{name} has no {member}"
    assert {name: described.get(name) for name in redraft.__all__} == {
        name: getattr(redraft, name) for name in redraft.__all__
    }


def test_every_page_is_in_the_menu():
    menu = re.findall(r"^ +- .*: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(menu) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_the_architecture_names_every_file():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "src" / "redraft").rglob("*.py")} - {"__init__.py"}
    assert sorted(name for name in files if f"| `{name}` |" not in page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
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
