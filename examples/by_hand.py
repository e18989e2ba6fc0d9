"""The paper's worked example, step by step, so that every number can be checked by hand.

The model is a table (by_hand.json): log-probabilities of the next word, looked up by the words so far or by the last
one. The plan (by_hand.jsonl) requests three edits in "The artisans remain old .": replace artisans by craftsmen,
delete remain, keep old. The beam and the candidate lists are small, so that a step fits on a page.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from redraft import DecodeConfig, Edit, Redrafter, Result, read_plans

HERE = Path(__file__).resolve().parent
CONFIG = DecodeConfig(beams=4, width=3, alpha=9)
COLOURS = {"row": "32", "finished": "1;32", "beyond alpha": "33", "below delta": "31", "unselected": "2"}
COLOURED = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def main() -> None:
    with read_plans(HERE / "by_hand.jsonl") as plans:
        plan = next(plans)
    table = json.loads((HERE / "by_hand.json").read_text(encoding="utf-8"))
    redrafter = Redrafter(f"scripted:{HERE / 'by_hand.json'}", config=CONFIG)
    edits = [short(edit) for edit in plan.edits]

    print(f"source    {plan.source}")
    print(f"edits     {'   '.join(edits)}")
    print(
        f"settings  beams {CONFIG.beams}, width {CONFIG.width}, alpha {CONFIG.alpha}, delta {CONFIG.delta:g}, λ 1/1/1\n"
    )
    print("log p     of the word, L of the words so far; E: what edits have earned, E⁺: with pending rewards")
    print("group     of the same edits satisfied; rows go to the best of each group, round by round")

    (decoded,) = redrafter.stream([plan], trace=True)
    for step in decoded.trace:
        show_step(step, plan.edits, edits, floor=table["floor_log_prob"])

    show_answer("chosen: most edits, then likeliest", decoded)
    show_answer("plain beam search, for comparison", redrafter(plan, method="beam"))


def show_step(step: dict[str, Any], asked: tuple[Edit, ...], edits: list[str], floor: float) -> None:
    siblings = {row["row"]: [] for row in step["rows"]}
    for node in step["nodes"]:
        siblings[node["row"]].append(word_of(node))
    print(f"\nstep {step['step']}\n")
    for row in step["rows"]:
        so_far, listed = row["text"] or "(empty)", " ".join(siblings[row["row"]])
        print(f"  row {row['row']}   {so_far:<29}L {minus(row['log_prob']):>6}   siblings: {listed}")

    print("\n row word       log p      L   E  E⁺  edits satisfied                   group, round, outcome")
    best = max(node["edit_score"] for node in step["nodes"] if node["outcome"] != "beyond alpha")
    groups: dict[tuple[int, ...], str] = {}
    unlisted = 0
    for node in step["nodes"]:
        if node["token_log_prob"] <= floor:  # a word that the table does not list here only fills the list
            unlisted += 1
            continue
        group = "–"
        if node["round"] is not None:
            group = groups.setdefault(tuple(node["satisfied"]), chr(ord("A") + len(groups)))
        columns = [
            f"  {node['row']}  {word_of(node):<10}",
            f"{minus(node['token_log_prob']):>6} {minus(node['log_prob']):>6}",
            f" {score(node['edit_score']):>3} {score(node['edit_score_pending']):>3}",
            f"  {', '.join(edits[edit] for edit in node['satisfied']) or '–':<34}",
            f" {group}  {node['round'] or '–'}  {outcome(node, best)}",
        ]
        print("".join(columns))
        for edit in unrewarded(node, asked, siblings[node["row"]]):
            print(f"     no reward for {edits[edit]}: {asked[edit].phrase} is not among the siblings")
    if unlisted:
        print(f"  (not shown: {unlisted} for words that the table does not list here, at {minus(floor)})")
    if step["pool"]:
        print("\n  pool")
        for place in step["pool"]:
            print(f"    E {score(place['edit_score']):>2}   L {minus(place['log_prob']):>6}   {place['text']}")


def word_of(node: dict[str, Any]) -> str:
    return "</s>" if node["end"] else str(node["text"])


def unrewarded(node: dict[str, Any], asked: tuple[Edit, ...], siblings: list[str]) -> list[int]:
    """Substitutions by this word that earn no reward, because the replaced word is not among the siblings."""
    return [
        number
        for number, edit in enumerate(asked)
        if node["text"].lower() in edit.targets and edit.phrase not in siblings and number not in node["satisfied"]
    ]


def outcome(node: dict[str, Any], best: float) -> str:
    """The outcome of a node, with the reason."""
    word = node["outcome"]
    why = {
        "beyond alpha": f"beyond alpha {CONFIG.alpha}",
        "below delta": f"below delta: {score(node['edit_score_pending'])} < {score(best)}−{CONFIG.delta:g}",
        "unselected": "unselected" if node["end"] else "unselected: rows full",
        "finished": "finished → pool",
    }.get(word, f"→ {word}")
    return coloured(why, COLOURS["row" if word.startswith("row") else word])


def show_answer(title: str, decoded: Result) -> None:
    print(f"\n{title}\n")
    print(f"  {coloured(decoded.text, '1')}   L {minus(decoded.log_prob)}")
    for verdict in decoded.verdicts:
        note = {True: "   chosen over the alternative", False: "   but not chosen over it", None: ""}[
            verdict.chosen_over
        ]
        print(f"    {short(verdict.edit):<22}{verdict.status}{note}")


def short(edit: Edit) -> str:
    if edit.kind == "substitute":
        return f"{edit.phrase}→{'/'.join(edit.targets)}"
    return f"{'+' if edit.kind == 'insert' else '−'}{edit.phrase}"


def minus(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def score(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def coloured(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if COLOURED else text


if __name__ == "__main__":
    main()
