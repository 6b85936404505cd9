"""IRKIT_TRACE records what a process compiles, also if it is killed."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import irkit
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL, parse
from irkit.transform import Trace

LEVELS = (GRAPH_LEVEL, LOOP_LEVEL)
FUNC = """
def f(A: f32[8], B: f32[8]):
    for i in serial(0, 8):
        B[i] = A[i] + f32(1.0)
"""
SCRIPT = """
    import os, signal, sys
    import irkit
    from irkit.graph import parse as parse_graph
    from irkit.ir import parse

    FUNC = sys.stdin.read()
    irkit.build(parse(FUNC))
    graph = parse_graph("def main(x: f32[2, 3]) -> f32[2, 3]:\\n    y = relu(x)\\n    return y\\n")
    irkit.compile(irkit.IRModule({"main": graph}))
    if sys.argv[1:] == ["die"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1:] == ["pool"]:
        import multiprocessing

        child = multiprocessing.get_context("fork").Process(target=irkit.lower, args=(parse(FUNC),))
        child.start()
        child.join()
    if sys.argv[1:] == ["fork"]:
        child = os.fork()
        irkit.lower(parse(FUNC))
        if child:
            os.waitpid(child, 0)
"""


def run_script(tmp_path: Path, *args: str) -> tuple[int, list[Trace]]:
    script, folder = tmp_path / "mine.py", tmp_path / "new" / "traces"
    script.write_text(textwrap.dedent(SCRIPT))
    env = {**os.environ, "IRKIT_TRACE": str(folder)}
    command = [sys.executable, str(script), *args]
    done = subprocess.run(command, env=env, check=False, input=FUNC.encode())
    paths = sorted(folder.iterdir())
    assert all(path.name.startswith("mine-") and path.suffix == ".trace" for path in paths)
    return done.returncode, [Trace.load(path, LEVELS) for path in paths]


def assert_whole(trace: Trace) -> None:
    names = {(step.level.name, step.name) for step in trace}
    assert {("graph", "fuse-ops"), ("loop", "simplify")} <= names
    assert [step.index for step in trace] == list(range(len(trace)))
    assert all(text for step in trace for text in step.scripts(trace.names))


def test_each_compilation_of_a_process_is_recorded(tmp_path: Path) -> None:
    code, (trace,) = run_script(tmp_path)
    assert (code, trace.title, trace.damage) == (0, "mine", "")
    assert_whole(trace)


def test_what_was_compiled_is_there_after_the_process_was_killed(tmp_path: Path) -> None:
    code, (trace,) = run_script(tmp_path, "die")
    assert code == -signal.SIGKILL
    assert "its process was stopped or still runs" in trace.damage
    assert_whole(trace)


@pytest.mark.parametrize("how", ["fork", "pool"])
def test_a_fork_has_a_file_of_its_own(how: str, tmp_path: Path) -> None:
    code, traces = run_script(tmp_path, how)
    assert (code, len(traces)) == (0, 2)
    large, small = sorted(traces, key=len, reverse=True)
    assert_whole(large)
    assert 0 < len(small) < len(large)
    assert {step.function for step in small} == {"f"}
    assert [trace.damage for trace in traces] == ["", ""]


def test_a_folder_that_cannot_be_written_to_ends_the_recording_not_the_compilation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("IRKIT_TRACE", str(tmp_path / "file" / "folder"))
    with pytest.warns(UserWarning, match="IRKIT_TRACE: recording ends here"):
        lowered = irkit.lower(parse(FUNC))
    assert lowered.name == "f"
    assert irkit.lower(parse(FUNC)).name == "f"  # Without another warning.
