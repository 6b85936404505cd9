"""A failed pass leaves a complete folder, and fails the same way when it is replayed."""

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

from irkit.core import FormatError, IRKitError, IRModule
from irkit.debug import (
    Isolation,
    KernelHalted,
    explain,
    read_crash,
    replay,
    run_kernel,
    time_limit,
    write_crash,
)
from irkit.debug.crash.writer import PREFIX
from irkit.graph import GRAPH_LEVEL, Builder
from irkit.ir import LOOP_LEVEL, PrimFunc, parse
from irkit.transform import AnyPass, PassFailed, Phase, Pipeline, apply_here, define_pass
from tests.debug import bad_passes as bad

KERNEL = """\
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + f32(1.0)
"""
WILD = """\
def wild(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i + 100000000000]
"""
ENDLESS = """\
def endless(A: f32[8], C: f32[8]):
    for i in serial(0, 4611686018427387904):
        C[i % 8] = A[i % 8] + C[i % 7]
"""


def pipeline(*passes: AnyPass) -> Pipeline:
    return Pipeline(LOOP_LEVEL, (Phase(0, "raw"), Phase(1, "bad", passes)))


def failure(p: AnyPass, isolation: Isolation | None = None) -> PassFailed:
    apply = apply_here if isolation is None else isolation.apply
    with pytest.raises(PassFailed) as caught:
        pipeline(bad.ends_loops_later, p).run(parse(KERNEL), apply=apply)
    return caught.value


IN_PROCESS = [
    (bad.raises.using(text="none"), "exception", "ValueError: none about"),
    (bad.raises_oddly, "exception", "OddError: 1 is not 2"),
    (bad.raises_for_users, "exception", "not for me"),
    (bad.exits, "exception", "SystemExit: 3"),
    (bad.returns_none, "class", "it returned NoneType, not PrimFunc"),
    (bad.leaves_stray, "problems", "the result is invalid"),
    (bad.lies, "problems", "the result is invalid"),
    (bad.drops_parameter, "signature", "it changed the signature"),
]
ISOLATED = [
    (bad.interrupts, "exception", "KeyboardInterrupt"),
    (bad.rewrites_forever, "timeout", "did not end within 0.4 s"),
    (bad.loops, "timeout", "did not end within 0.4 s"),
    (bad.sleeps, "timeout", "did not end within 0.4 s"),
    (bad.hoards, "memory", "needed more than 256 MiB of memory"),
    (bad.aborts, "crash", "crashed its process with SIGABRT"),
    (bad.segfaults, "crash", "crashed its process with SIGSEGV"),
    (bad.leaves, "crash", "ended its process with exit code 7"),
]


@pytest.mark.parametrize(("p", "kind", "what"), IN_PROCESS, ids=lambda each: str(each)[:20])
def test_a_failure_in_this_process_is_replayed_the_same(
    p: AnyPass, kind: str, what: str, tmp_path: Path
) -> None:
    error = failure(p)
    assert error.kind == kind
    assert what in error.what
    folder = write_crash(error, tmp_path)
    crash = read_crash(folder)
    assert (crash.kind, crash.function, crash.not_replayable) == (kind, "f", "")
    assert crash.passes[crash.at].spec.startswith(p.path)
    assert crash.pipeline == f"1:ends-loops-later,{p}"
    assert "bad_passes.py:" in crash.origin
    assert {"irkit", "python", "numpy", "llvmlite", "platform"} <= set(crash.versions)
    assert "for i in serial" in (folder / "before.irs").read_text()
    report = (folder / "report.txt").read_text()
    assert f"pass '{p}' on function 'f'" in report
    assert f"irkit replay {folder}" in report
    assert replay(folder, isolated=False).outcome == "same"


def test_failures_in_a_child_process_are_found_and_replayed(tmp_path: Path) -> None:
    started = time.perf_counter()
    memory = 1 << 28
    with (
        Isolation(seconds=20, memory=memory, strict=True) as isolation,
        Isolation(seconds=0.4, memory=memory, strict=True) as limited,
    ):
        for p, kind, what in ISOLATED + IN_PROCESS:
            error = failure(p, limited if kind == "timeout" else isolation)
            assert (error.kind, str(error)) == (kind, str(error))
            assert what in error.what
            folder = write_crash(error, tmp_path)
            if kind == "timeout":
                assert read_crash(folder).limits.seconds == 0.4
            if kind in ("exception", "timeout", "crash") and p is not bad.leaves:
                assert "bad_passes.py" in (folder / "traceback.txt").read_text(), p
            if p in (bad.loops, bad.segfaults, bad.hoards, bad.leaves_stray):
                assert replay(folder, memory=memory).outcome == "same"
        good = pipeline(bad.ends_loops_later).run(parse(KERNEL), apply=isolation.apply)
        assert LOOP_LEVEL.same(good, parse(KERNEL))
    assert time.perf_counter() - started < 60


def test_the_wrong_line_is_marked_and_the_change_shown(tmp_path: Path) -> None:
    error = failure(bad.leaves_stray)
    text = explain(error)
    assert ">    3         C[stray] = A[i] + f32(1.0)" in text
    assert "         ^ variable 'stray' is used but bound nowhere before" in text
    assert "-        C[i] = A[i] + f32(1.0)\n+        C[stray] = A[i] + f32(1.0)" in text
    folder = write_crash(error, tmp_path)
    assert [row.line for row in read_crash(folder).problems] == [3]
    assert "C[stray]" in (folder / "after.irs").read_text()
    assert "+        C[stray]" in (folder / "change.diff").read_text()


def test_lines_of_a_module_are_counted_through_all_its_functions() -> None:
    module = IRModule({"g": parse(KERNEL.replace("def f", "def g")), "f": parse(KERNEL)})
    with pytest.raises(PassFailed) as caught:
        pipeline(bad.leaves_stray_in_f).run(module)
    text = explain(caught.value)
    assert ">    7         C[stray]" in text
    assert " >" not in text


def test_a_rewrite_that_was_switched_off_is_off_in_the_replay(tmp_path: Path) -> None:
    steps = pipeline(bad.ends_loops_later, bad.needs_its_rewrite).steps(
        parse(KERNEL), disabled={1: frozenset({0})}
    )
    with pytest.raises(PassFailed) as caught:
        list(steps)
    assert replay(write_crash(caught.value, tmp_path), isolated=False).outcome == "same"


def test_the_same_failure_has_one_folder_and_others_are_never_overwritten(tmp_path: Path) -> None:
    first = write_crash(failure(bad.raises), tmp_path)
    stamp = (first / "crash.json").stat().st_mtime_ns
    assert write_crash(failure(bad.raises), tmp_path) == first
    assert (first / "crash.json").stat().st_mtime_ns == stamp
    assert write_crash(failure(bad.raises.using(text="else")), tmp_path) != first
    (first / "crash.json").write_text("{}")
    second = write_crash(failure(bad.raises), tmp_path)
    assert second.name == f"{first.name}-2"
    assert (first / "crash.json").read_text() == "{}"
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith(PREFIX)]


def test_a_pass_that_was_mended_no_longer_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_crash(failure(bad.sometimes_raises), tmp_path)
    assert replay(folder).outcome == "same"
    monkeypatch.setenv("IRKIT_TEST_MENDED", "1")
    assert replay(folder).outcome == "gone"
    monkeypatch.setenv("IRKIT_TEST_MENDED", "2")
    done = replay(folder)
    assert done.outcome == "different"
    assert (done.expected, done.found) == (
        ("exception", "ValueError: today"),
        ("exception", "ValueError: another day"),
    )


def test_a_replay_can_go_on_with_the_passes_that_came_after(tmp_path: Path) -> None:
    with pytest.raises(PassFailed) as caught:
        pipeline(bad.raises, bad.raises_for_users).run(parse(KERNEL))
    folder = write_crash(caught.value, tmp_path)
    data = json.loads((folder / "crash.json").read_text())
    data["passes"][0]["spec"] = bad.ends_loops_later.path
    (folder / "crash.json").write_text(json.dumps(data))
    assert replay(folder, isolated=False).outcome == "gone"
    done = replay(folder, rest=True, isolated=False)
    assert done.outcome == "different"
    assert done.error is not None
    assert "not for me" in str(done.error)


def test_the_folder_of_a_closure_gives_the_reason_it_cannot_be_replayed(tmp_path: Path) -> None:
    @define_pass
    def inner(func: PrimFunc) -> PrimFunc:
        """Raise."""
        raise ValueError("inside")

    folder = write_crash(failure(inner), tmp_path)
    assert "defined inside a function" in (folder / "report.txt").read_text()
    with pytest.raises(IRKitError, match=r"cannot be replayed: .*defined inside a function"):
        replay(folder)


def test_a_graph_and_its_weights_are_kept_whole(tmp_path: Path) -> None:
    b = Builder("main")
    x = b.param("x", (1000,))
    weights = np.arange(1000, dtype=np.float32)
    func = b.finish(b.op("add", x, b.constant(weights)))
    made = Pipeline(GRAPH_LEVEL, (Phase(0, "graph", (bad.raises_on_modules,)),))
    with Isolation(strict=True) as isolation, pytest.raises(PassFailed) as caught:
        made.run(IRModule({"main": func}), apply=isolation.apply)
    assert "no idea about weights up to 999" in caught.value.what
    assert replay(write_crash(caught.value, tmp_path)).outcome == "same"


@pytest.mark.long
def test_a_kernel_that_crashes_or_hangs_is_named_and_replayed(tmp_path: Path) -> None:
    a, c = np.ones(8, np.float32), np.zeros(8, np.float32)
    for text, kind in ((WILD, "crash"), (ENDLESS, "timeout")):
        func = parse(text)
        with pytest.raises(KernelHalted, match=f"native code of '{func.name}'") as caught:
            run_kernel(func, (a, c), seconds=1.5)
        assert caught.value.kind == kind
        folder = write_crash(caught.value, tmp_path)
        assert read_crash(folder).function == func.name
        assert replay(folder).outcome == "same"
    assert (c == 0).all()


def test_a_correct_kernel_returns_its_arrays() -> None:
    a, c = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    out = run_kernel(parse(KERNEL), (a, c), seconds=30)
    assert (out[1] == a + 1).all()
    assert (c == 0).all()


@pytest.mark.parametrize("p", [bad.loops, bad.stubborn, bad.sleeps], ids=str)
def test_a_time_limit_in_this_process_stops_python_and_reports_the_line(p: AnyPass) -> None:
    with pytest.raises(PassFailed) as caught:
        pipeline(p).run(parse(KERNEL), apply=time_limit(0.2))
    assert caught.value.kind == "timeout"
    assert "bad_passes.py" in caught.value.__cause__.traceback  # type: ignore[union-attr]


DAMAGE = [
    ("crash.json", b""),
    ("crash.json", b"[" * 100_000),
    ("crash.json", b"[1]"),
    ("crash.json", b'{"version": 1}'),
    ("crash.json", b'{"version": 2}'),
    ("crash.json", b"x" * (1 << 23)),
    ("before.trace", b""),
    ("before.trace", b"irkit-trace 1\n\x00"),
    ("before.trace", None),
]


@pytest.mark.parametrize(("name", "data"), DAMAGE, ids=lambda each: str(each)[:20])
def test_a_damaged_folder_is_a_clear_error(name: str, data: bytes | None, tmp_path: Path) -> None:
    folder = write_crash(failure(bad.raises), tmp_path)
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)
    with pytest.raises(FormatError, match=r"damaged|version|larger|missing|no trace"):
        replay(folder)


def test_a_folder_of_another_version_names_the_remedy(tmp_path: Path) -> None:
    folder = write_crash(failure(bad.raises), tmp_path)
    (folder / "crash.json").write_bytes(b'{"version": 2}')
    with pytest.raises(FormatError, match="has version 2; this irkit reads 1") as caught:
        replay(folder)
    assert "irkit that wrote it" in str(caught.value)


CHANGES: list[tuple[str, object]] = [
    ("at", 99),
    ("at", -1),
    ("subject", "moon"),
    ("subject", "kernel"),
    ("level", "moon"),
    ("passes", []),
    ("passes", [{"phase": 0, "phase_name": "", "text": "", "spec": "{"}] * 2),
    ("passes", [{"phase": 0, "phase_name": "", "text": "", "spec": "no_module:f"}] * 2),
    ("passes", [{"phase": 0, "phase_name": "", "text": "", "spec": "os:getcwd"}] * 2),
    ("facts", [{"name": "moon", "path": "os:nothing"}]),
    ("limits", {"seconds": -1, "memory": None}),
    ("disabled", ["x"]),
]


@pytest.mark.parametrize(("field", "value"), CHANGES, ids=lambda each: str(each)[:20])
def test_a_folder_with_wrong_contents_is_an_error(
    field: str, value: object, tmp_path: Path
) -> None:
    folder = write_crash(failure(bad.raises), tmp_path)
    data = json.loads((folder / "crash.json").read_text())
    (folder / "crash.json").write_text(json.dumps({**data, field: value}))
    with pytest.raises(IRKitError):
        replay(folder)


def test_inputs_that_are_damaged_are_a_clear_error(tmp_path: Path) -> None:
    a = np.ones(8, np.float32)
    with pytest.raises(KernelHalted) as caught:
        run_kernel(parse(WILD), (a, a.copy()), seconds=20)
    folder = write_crash(caught.value, tmp_path)
    (folder / "inputs.npz").write_bytes(b"PK nothing")
    with pytest.raises(FormatError, match="damaged"):
        replay(folder)


def test_no_folder_is_written_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        write_crash(failure(bad.raises), tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]
