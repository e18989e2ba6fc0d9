"""Packages are pipeline stages, and modules import only from earlier stages (docs/architecture.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import redraft

ROOT = Path(redraft.__file__).parent
PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
STAGES = (
    "models", "text", "align", "plan", "constrain", "check", "decode", "simplify", "documents", "cluster", "evaluate",
    "fit", "tune", "experiment", "serve", "cli",
)  # fmt: skip
NO_TORCH = (
    "text/*.py",
    *(f"align/{name}.py" for name in ("sentence_pairs", "links", "gold_alignments", "exact_aligner", "aligners")),
    *(
        f"plan/{name}.py"
        for name in (
            "edits", "plan_files", "verdicts", "extraction", "prediction", "user_constraints", "marked_source",
            "apply_edits", "placeholders", "common_names", "target_guard",
            "target_guard_tables", "wordnet_relations",
        )
    ),
    "constrain/mark_tokens.py",
    "check/exact_checks.py", "check/meaning.py", "check/rules/*.py",
    "decode/config.py",
    "documents/*.py",
    "evaluate/*.py",
    *(f"fit/rewriter/{name}.py" for name in ("pair_files", "training_settings")),
    *(f"fit/planner/{name}.py" for name in ("common_name_table", "wordnet_tables")),
    "serve/mcp_server.py", "serve/error_responses.py", "serve/security_headers.py",
    *(f"serve/cluster/{name}.py" for name in ("proxy_answers", "replica_settings")),
    "cli/main.py",
)  # fmt: skip


def modules(pattern: str = "**/*.py") -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))


def imports(module: str) -> set[str]:
    """Everything a module imports, by its full name, wherever in the file it does so."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("module", [name for name in modules() if "/" in name])
def test_stages_import_only_earlier_stages(module: str) -> None:
    stage = module.split("/")[0]
    assert stage in STAGES, f"{stage} is no stage: give it a place in the order"
    imported = {name.split(".")[1] for name in imports(module) if name.startswith("redraft.")}
    later = STAGES[STAGES.index(stage) + 1 :]
    assert not imported & set(later)


@pytest.mark.parametrize("module", [name for pattern in NO_TORCH for name in modules(pattern)])
def test_plans_need_no_torch(module: str) -> None:
    name = "redraft." + module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert_not_imported(f"import {name}", "torch", "transformers")


def test_import_redraft_is_fast() -> None:
    """torch is imported with the first name that needs it; plans do not need it."""
    assert_not_imported(
        "import redraft; redraft.EditPlan('a', (redraft.Edit.insert('b'),)); redraft.read_plans",
        "torch",
        "transformers",
    )


def assert_not_imported(code: str, *packages: str) -> None:
    check = f"{code}; import sys; print(sorted(set({packages!r}) & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout.strip() == "[]"


def test_every_public_name_can_be_imported() -> None:
    for name in redraft.__all__:
        assert getattr(redraft, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = redraft.no_such_name


def test_no_two_modules_share_a_name() -> None:
    names = [Path(module).stem for module in modules() if Path(module).stem != "__init__"]
    assert {name for name in names if names.count(name) > 1} == set()


def listed_files() -> set[str]:
    """The rows of the tables of files in docs/architecture.md, each with the folder of its heading."""
    text = PAGE.read_text(encoding="utf-8").split("\n## Files\n")[1].split("\n## ")[0]
    found = set()
    for section in text.split("\n### ")[1:]:
        folder = re.match("`(.+?/)`", section)
        rows = re.findall(r"^\| `(.+?)` \|", section, re.MULTILINE)
        found |= {(folder[1] if folder else "") + row for row in rows}
    return found


def test_the_page_lists_every_module() -> None:
    assert {name for name in modules() if not name.endswith("__init__.py")} - listed_files() == set()


def test_what_the_page_lists_exists() -> None:
    assert len(listed_files()) > 100
    assert [name for name in sorted(listed_files()) if not (ROOT / name).exists()] == []


def test_paths_that_the_page_names_exist() -> None:
    """Such as `decode/step.py`, wherever the page names them."""
    folders = "|".join(STAGES)
    named = re.findall(rf"`((?:{folders})/[\w./]+\.\w+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 50
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_page_has_the_stages_in_order() -> None:
    assert ", ".join(STAGES) in " ".join(PAGE.read_text(encoding="utf-8").split())
