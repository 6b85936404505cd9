"""A kernel is found again by its structure and all that is done to it, and by nothing else."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import irkit
from irkit.autoschedule import Machine
from irkit.codegen import complete_target
from irkit.core import IRModule, Target
from irkit.fuzz import prim_funcs
from irkit.graph import Builder
from irkit.ir import PrimFunc
from irkit.passes.loop import unroll_loops
from irkit.phases import DEFAULT, LEGALIZE
from irkit.phases.kernels import kernel_cache
from irkit.phases.kernels.kernel_cache import KERNELS, KernelKeys
from irkit.phases.kernels.kernel_code import KernelTask
from irkit.runtime import Model
from irkit.transform import define_pass
from tests.draws import few_or_all
from tests.phases.caches import empty_cache
from tests.runtime.models import module


@define_pass
def stamp(func: PrimFunc, *, number: int = 0) -> PrimFunc:
    """Leave a mark."""
    return func.replace(attrs=(*func.attrs, (f"stamp_{number}", number)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    return empty_cache(tmp_path, monkeypatch)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are lowered."""
    names: list[str] = []
    inner = KernelTask.lowered

    def lowered(self: KernelTask, **options: Any) -> Any:
        names.append(self.func.name)
        return inner(self, **options)

    monkeypatch.setattr(KernelTask, "lowered", lowered)
    return names


def layers(name: str = "x", size: int = 24) -> IRModule:
    """Return a product with something behind it, and a sum of two sums: two kernels."""
    b = Builder()
    x, y = b.param(name, (size, size)), b.param("y", (size, size))
    z = b.op("relu", b.op("add", b.op("matmul", x, y), x))
    return module(b.finish(b.op("softmax", z, axis=1), outputs=("z",)))


def run(model: Model) -> Any:
    rng = np.random.default_rng(0)
    feeds = {s.name: rng.random(s.extents, dtype=np.float32) for s in model.plan.inputs}
    return model.run(feeds)["z"]


def test_the_second_compilation_lowers_nothing_and_makes_the_same_bytes(
    made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    plain = irkit.compile(layers())
    made.clear()
    monkeypatch.setenv("IRKIT_CACHE", "1")
    first = irkit.compile(layers())
    assert len(made) == 2
    for forget in (False, True):  # From memory, and from the disk.
        if forget:
            KERNELS.clear()
        again = irkit.compile(layers("other"))
        assert len(made) == 2
        assert again.contents.objects[:-1] == first.contents.objects[:-1]
        assert plain.contents.objects[:-1] == first.contents.objects[:-1]
        assert again.plan.work == first.plan.work
        assert run(again).tobytes() == run(first).tobytes()


def test_a_kernel_of_another_name_is_found(made: list[str]) -> None:
    def relus(*sizes: int) -> IRModule:
        b = Builder()
        found = [b.op("relu", b.param(f"x{at}", (size,))) for at, size in enumerate(sizes)]
        return module(b.finish(*found, outputs=tuple(f"z{at}" for at in range(len(sizes)))))

    first = irkit.compile(relus(100, 3000))
    second = irkit.compile(relus(3000, 100, 50))
    assert len(made) == 3
    values = np.linspace(-1, 1, 3000, dtype=np.float32)
    for model, feeds in (
        (first, {"x0": values[:100], "x1": values}),
        (second, {"x0": values, "x1": values[:100], "x2": values[:50]}),
    ):
        found = model.run(feeds)
        for name, value in feeds.items():
            np.testing.assert_array_equal(found[name.replace("x", "z")], np.maximum(value, 0))
    names = [call.kernel for call in second.plan.calls]
    assert len(set(names)) == 3
    # As if nothing had been kept.
    os.environ["IRKIT_CACHE"] = "0"
    assert irkit.compile(relus(3000, 100, 50)).contents.objects == second.contents.objects


OTHERS: dict[str, dict[str, Any]] = {
    "an option": {"pipeline": DEFAULT.replace("unroll-loops", unroll_loops.using(max_extent=2))},
    "a pass less": {"pipeline": DEFAULT.without("hoist-if-then-else")},
    "a pass more": {"pipeline": DEFAULT.insert(stamp, phase=3)},
    "a target": {"target": Target(opt_level=1)},
    "no verification": {"verify": False},
    "another machine": {"machine": Machine.with_vectors(16)},
    "no schedule": {"schedule": "none"},
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_decides_the_code_is_in_the_key(what: str, made: list[str]) -> None:
    irkit.compile(layers())
    counts = [len(made)]
    for _ in range(2):
        irkit.compile(layers(), keep_trace=False, **OTHERS[what])
        counts.append(len(made))
    assert counts[0] < counts[1] == counts[2]


@pytest.mark.parametrize("version", ["producer", "platform.python_version"])
def test_versions_are_in_the_key(
    version: str, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    irkit.compile(layers())
    before = len(made)
    other: Any = b"LLVM 99" if version == "producer" else "3.99"
    monkeypatch.setattr(f"{kernel_cache.__name__}.{version}", lambda: other)
    irkit.compile(layers())
    assert len(made) == 2 * before


def test_the_source_of_a_users_pass_is_in_the_key(made: list[str]) -> None:
    def named(text: str) -> Any:
        def note(func: PrimFunc) -> PrimFunc:
            return func.replace(attrs=(*func.attrs, ("note", text)))

        return DEFAULT.insert(define_pass(note), phase=3)

    counts: list[int] = []
    for pipeline in (named("a"), named("a"), named("b")):
        irkit.compile(layers(), pipeline=pipeline, keep_trace=False)
        counts.append(len(made))
    assert counts[0] == counts[1] < counts[2]


def test_a_pass_that_changes_something_else_runs_each_time() -> None:
    seen: list[str] = []

    @define_pass
    def look(func: PrimFunc) -> PrimFunc:
        seen.append(func.name)
        return func

    for _ in range(2):
        irkit.compile(layers(), pipeline=DEFAULT.insert(look, phase=3))
    assert len(seen) == 2 * len(set(seen)) > 0


def test_damaged_files_count_as_missing(folder: Path, made: list[str]) -> None:
    first = irkit.compile(layers())
    for path in folder.glob("*.kernel"):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(bytes(data))
    KERNELS.clear()
    assert irkit.compile(layers()).contents.objects == first.contents.objects
    assert len(made) == 4


def test_with_the_cache_off_nothing_is_kept_in_memory_either(
    made: list[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    for state, count in (("0", 4), ("memory", 2)):
        made.clear()
        monkeypatch.setenv("IRKIT_CACHE", state)
        irkit.compile(layers())
        irkit.compile(layers())
        assert len(made) == count
        assert not folder.exists()


def test_memory_is_bounded(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "MOST_BYTES", 1)
    monkeypatch.setenv("IRKIT_CACHE", "memory")
    irkit.compile(layers())
    irkit.compile(layers())
    assert len(made) == 4


def test_steps_that_are_made_later_are_those_that_were_taken(made: list[str]) -> None:
    now = irkit.compile(layers(), keep_trace="now")
    irkit.compile(layers())
    later = irkit.compile(layers())
    assert made
    assert len(later.trace) == len(now.trace)
    for one, other in zip(later.trace, now.trace, strict=True):
        assert (one.index, one.pass_text, one.function) == (
            other.index,
            other.pass_text,
            other.function,
        )
        assert one.scripts() == other.scripts()
        assert (one.applications, one.facts) == (other.applications, other.facts)
        assert [each.text for each in one.remarks] == [each.text for each in other.remarks]
    assert [f.script() for f in later.functions] == [f.script() for f in now.functions]


@settings(
    max_examples=few_or_all(8, 200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(prim_funcs())
def test_a_kept_kernel_has_the_bytes_of_a_new_one(func: PrimFunc) -> None:
    """Any function: the key does not depend on its name, and the code neither."""
    target = complete_target(Target(opt_level=1))
    one, other = (
        KernelTask(func.replace(name=name), DEFAULT, LEGALIZE, target, verify=False)
        for name in ("one", "two")
    )
    assert KernelKeys().of(one) == KernelKeys().of(other) is not None
    codes = [task.lowered().code(target) for task in (one, other)]
    assert codes[0] == codes[1]
