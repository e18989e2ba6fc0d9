"""Other work with the same model at a yield point does not change results."""

import sys

import pytest

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.cooperative_scheduling import on_yield_point
from small_models import tiny_model_for
from tokenizers_in_memory import byte_level

FIRST = [EditPlan("The artisans remain old .", (Edit.insert("old"), Edit.delete("remain"))), "The artisans remain ."]
OTHER = [EditPlan("Craftsmen are old .", (Edit.insert("are"),)), EditPlan("They remain old .")]


def redrafter(kind):
    config = DecodeConfig(beams=3, max_tokens=8)
    if kind == "scripted":
        return Redrafter("scripted:examples/by_hand.json", config=config)
    tokenizer = byte_level()
    return Redrafter(tiny_model_for(kind, tokenizer), tokenizer, config=config)


@pytest.mark.parametrize("kind, goes_first", [("scripted", False), ("bart", True), ("llama", True)])
def test_other_work_at_yield_points_changes_nothing(kind, goes_first):
    one = redrafter(kind)
    expected, others = one.rewrite(FIRST), one.rewrite(OTHER)
    found, in_search = [], set()

    def run_other_work(cancel_only):
        if sys._getframe(2).f_globals["__name__"] == "redraft.decode.search":
            in_search.add(cancel_only)
        if not cancel_only:
            with on_yield_point(lambda cancel_only: None):
                found.append(one.rewrite(OTHER))

    with on_yield_point(run_other_work):
        assert one.rewrite(FIRST) == expected
    assert all(again == others for again in found)
    assert in_search == {not goes_first}


class Stop(Exception):
    pass


@pytest.mark.parametrize("kind", ["scripted", "bart"])
def test_a_search_can_be_stopped_at_any_step(kind):
    one, seen = redrafter(kind), 0

    def stop(cancel_only):
        nonlocal seen
        seen += 1
        if seen == 4:
            raise Stop

    expected = one.rewrite(FIRST)
    with on_yield_point(stop), pytest.raises(Stop):
        one.rewrite(FIRST)
    assert one.rewrite(FIRST) == expected
