"""Trace files of earlier versions are read; those of later ones are refused with the remedy."""

from pathlib import Path

import pytest

from irkit.core import FormatError, walk
from irkit.graph import GRAPH_LEVEL, GraphFunc, GraphIf
from irkit.ir import LOOP_LEVEL, Conditional, PrimFunc
from irkit.transform import Trace

LEVELS = (GRAPH_LEVEL, LOOP_LEVEL)
# Written when Conditional was called IfThenElse, and GraphIf was called If.
VERSION_1 = Path(__file__).with_name("version_1.trace")


def test_a_trace_of_version_1_is_read_with_the_classes_of_today() -> None:
    trace = Trace.load(VERSION_1, LEVELS)
    functions = [func for step in trace for func in (step.before, step.after)]
    graphs = [func for func in functions if isinstance(func, GraphFunc)]
    loops = [func for func in functions if isinstance(func, PrimFunc)]
    assert [step.name for step in trace][:2] == ["simplify-graph", "fold-batch-norm"]
    assert len(graphs) == len(loops) == 4
    assert all(len(list(walk(func.body, GraphIf))) == 1 for func in graphs)
    assert all(len(list(walk(func.body, Conditional))) == 1 for func in loops)


def test_what_was_read_from_version_1_is_written_in_todays_version(tmp_path: Path) -> None:
    trace = Trace.load(VERSION_1, LEVELS)
    path = tmp_path / "again.trace"
    trace.save(path)
    assert path.read_bytes().startswith(b"irkit-trace 3\n")
    again = Trace.load(path, LEVELS)
    assert [str(step.after) for step in again] == [str(step.after) for step in trace]


def test_a_later_version_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "later.trace"
    path.write_bytes(VERSION_1.read_bytes().replace(b"irkit-trace 1", b"irkit-trace 4", 1))
    with pytest.raises(FormatError, match=r"version 4 .* reads versions up to 3") as caught:
        Trace.load(path, LEVELS)
    assert caught.value.hint == "Make the trace again, or read it with the irkit that wrote it."
