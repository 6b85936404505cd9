"""LLVM's own passes on a function, read from what LLVM prints."""

import html
import re
from itertools import accumulate

import pytest

from irkit.codegen import emit, host_target, optimise
from irkit.core import InputError
from irkit.inspector_web.jobs.llvm_passes import (
    MOST_PASSES,
    Dump,
    LlvmPasses,
    compare_dumps,
    llvm_passes,
    read_dumps,
)
from irkit.ir import parse
from irkit.phases import lower
from irkit.processes import ChildDied, Limits
from tests.inspector_web.pages import MATMUL


def plain(found: LlvmPasses, text: int) -> list[str]:
    lines = [re.sub(r"<[^>]*>", "", line) for line in found.html]
    return [html.unescape(lines[at]) for at in accumulate(found.texts[text])]


def test_the_last_text_is_what_llvm_makes_of_the_function() -> None:
    func = lower(parse(MATMUL.replace("parallel", "serial")))
    found = llvm_passes(func)
    names = [each.name for each in found.passes]
    assert {"SimplifyCFG", "InstCombine", "LICM"} <= set(names)
    assert len(found.texts) == len(found.passes) + 1
    target = host_target()
    final = str(optimise(emit([func], target), target))
    body = final[final.index("define i32") : final.index("\n}\n")]
    assert body in "\n".join(plain(found, -1))
    assert not any(re.match(r"; ModuleID|target ", line) for line in plain(found, 0))


def test_each_difference_leads_from_one_text_to_the_next() -> None:
    found = llvm_passes(lower(parse(MATMUL)))
    for at, each in enumerate(found.passes):
        before, after = plain(found, at), plain(found, at + 1)
        rows = each.rows
        same = sum(row[3] for row in rows if row[0] == "=")
        assert same + each.removed == len(before)
        assert same + each.added == len(after)
        assert each.changes > 0
        for kind, left, right, count, _ in rows:
            if kind == "=":
                assert before[left - 1 : left - 1 + count] == after[right - 1 : right - 1 + count]


def test_texts_beyond_the_limit_are_counted_and_omitted() -> None:
    text = "*** IR Dump After APass on f ***\ndefine i32 @f()\n" * (MOST_PASSES + 3)
    dumps, more = read_dumps(text)
    assert len(dumps) == MOST_PASSES
    assert more == 3


def test_hostile_names_stay_text() -> None:
    lines = ['define i32 @"<script>alert(1)</script>"()', "*** IR Dump After"]
    made = compare_dumps("<b>", [], [Dump("<i>", "</td>", lines)])
    assert not any("<script" in line for line in made.html)
    assert read_dumps("*** IR Dump After half") == ([], 0)
    assert read_dumps("") == ([], 0)


def test_a_graph_has_no_llvm_passes() -> None:
    with pytest.raises(InputError, match="one loop function"):
        llvm_passes(object())


def test_llvm_is_stopped_when_it_takes_too_long() -> None:
    with pytest.raises(ChildDied, match="did not end"):
        llvm_passes(lower(parse(MATMUL)), Limits(seconds=0.001))
