"""The --explain format: the sentence, its rewriting, and the status and origin of each edit."""

from __future__ import annotations

from redraft.cli.console import visible
from redraft.cli.output_lines import OutputLine
from redraft.plan.edits import describe_edit
from redraft.plan.verdicts import Verdict


def format_explanation(output: OutputLine) -> str:
    """One block of lines, the last one empty. Insertions that were satisfied share one line."""
    from redraft.cli.terminal_colour import change_marked, colour_wanted, rendered  # imports numpy

    if output.result is None:
        return visible(f"{output.error}\n")
    result = output.result
    kept = [v.edit.phrase for v in result.verdicts if v.edit.kind == "insert" and v.status == "satisfied"]
    others = [v for v in result.verdicts if v.edit.kind != "insert" or v.status != "satisfied"]
    rewriting = rendered(change_marked(result.source, output.to_text()), colour=colour_wanted())
    lines = [*map(_verdict_line, others)]
    if kept:
        lines.append(f"  ✓ keep {', '.join(kept)}")
    if result.meaning and result.meaning.alarm:
        lines.append(f"  ! may not say the same ({result.meaning.risk:.0%}): {result.meaning.why}")
    if result.missing:
        lines.append(f"  ! missing: {', '.join(result.missing)}")
    if result.literal:
        lines.append("  edited word by word: the model's own texts were worse")
    if result.unchanged:
        lines.append(f"  left unchanged: {result.unchanged}")
    return "\n".join([visible(f"  {result.source.strip()}"), f"→ {rewriting}", *map(visible, lines), ""])


def _verdict_line(verdict: Verdict) -> str:
    edit = verdict.edit
    origin = [*([f"{edit.probability:.0%}"] if edit.probability is not None else []), *filter(None, [edit.note])]
    mark = "✓" if verdict.status == "satisfied" else "✗"
    reason = f"  – {verdict.reason}" if verdict.reason else ""
    return f"  {mark} {describe_edit(edit)}" + (f"  ({', '.join(origin)})" if origin else "") + reason
