"""A result to read: the sentence, its rewriting, what became of each edit and why it was asked for."""

from __future__ import annotations

from redraft.cli.console import visible
from redraft.cli.output_lines import OutputLine
from redraft.plan.edits import described
from redraft.plan.verdicts import Verdict


def explained(result: OutputLine) -> str:
    """Several lines and an empty one. Words that were to stay and did are told together."""
    from redraft.cli.terminal_colour import change_marked, rendered, wanted  # brings numpy

    if result.result is None:
        return visible(f"{result.error}\n")
    decoded = result.result
    stayed = [v.edit.phrase for v in decoded.verdicts if v.edit.kind == "insert" and v.status == "satisfied"]
    others = [v for v in decoded.verdicts if v.edit.kind != "insert" or v.status != "satisfied"]
    output = rendered(change_marked(decoded.source, result.to_text()), colour=wanted())
    lines = [*map(_line, others)]
    if stayed:
        lines.append(f"  ✓ keep {', '.join(stayed)}")
    if decoded.meaning and decoded.meaning.alarm:
        lines.append(f"  ! may not say the same ({decoded.meaning.risk:.0%}): {decoded.meaning.why}")
    if decoded.missing:
        lines.append(f"  ! missing: {', '.join(decoded.missing)}")
    if decoded.literal:
        lines.append("  edited word by word: the model's own texts were worse")
    if decoded.unchanged:
        lines.append(f"  left as it is: {decoded.unchanged}")
    return "\n".join([visible(f"  {decoded.source.strip()}"), f"→ {output}", *map(visible, lines), ""])


def _line(verdict: Verdict) -> str:
    edit = verdict.edit
    why = [*([f"{edit.probability:.0%}"] if edit.probability is not None else []), *filter(None, [edit.note])]
    mark = "✓" if verdict.status == "satisfied" else "✗"
    cannot = f"  – {verdict.reason}" if verdict.reason else ""
    return f"  {mark} {described(edit)}" + (f"  ({', '.join(why)})" if why else "") + cannot
