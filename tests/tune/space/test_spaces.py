import pickle
import re
from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

import irkit
from irkit.autoschedule import Machine, auto_schedule
from irkit.core import Node, ScheduleError, children, same
from irkit.ir import Block, Buffer, For, PrimFunc, as_int, verify
from irkit.tune import task
from irkit.tune.space import crossed, mutated, sampled, started
from irkit.tune.space.draws import drawn_setting, is_legal
from irkit.tune.space.moves import estimate
from irkit.tune.space.spaces import named
from irkit.tune.space.tile_sketch import TileSketch
from tests.tune.programs import (
    activated,
    blur,
    chain,
    convolution,
    nearest,
    nearest_filters,
    product,
    sums,
)

PROGRAMS: dict[str, Callable[[], PrimFunc]] = {
    "product": lambda: product(7, 19, 11),
    "nearest": lambda: nearest(5, 23, 6),
    "blur": lambda: blur(13),
    "convolution": lambda: convolution(2, 5, 3),
    "sums": lambda: sums(6, 64),
    "merged": lambda: nearest_filters(3, 5, 4),
}


def results(func: PrimFunc) -> list[bytes]:
    """Interpret a function on whole numbers, which every order of sums gives exactly."""
    rng = np.random.default_rng(0)
    args = [
        rng.integers(-4, 5, [as_int(dim) or 0 for dim in param.shape]).astype(np.float32)
        for param in func.params
        if isinstance(param, Buffer)
    ]
    irkit.interpret(func, *args)
    return [(each + np.float32(0)).tobytes() for each in args]


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_decisions_give_valid_loops_that_compute_the_same(name: str) -> None:
    space, rng = task(PROGRAMS[name]()).space, Random(name)
    wanted = results(space.func)
    legal = 0
    for number in range(6):
        values = sampled(space, rng)
        if number % 2:
            values = mutated(space, crossed(space, values, sampled(space, rng), rng), rng)
        try:
            made = space.derive(values)
        except ScheduleError:
            continue
        legal += 1
        assert not verify(made.func), values
        assert results(made.func) == wanted, values
    assert legal >= 4


def nest(*extents: int) -> str:
    """Return a pattern of loops inside each other."""
    return r":\s+".join(rf"for \w+ in \w+\(0, {each}\)" for each in extents)


def tiled(block: str, **knobs: object) -> dict[str, object]:
    """Return decisions for a tile of one vector of eight lanes, but for ``knobs``."""
    usual: dict[str, object] = {
        "sketch": "tile", "lanes": 8, "vectors": 1, "row": -1, "rows": 1, "near": -1, "lines": 1,
        "order": 0, "unroll": 1, "strip": [-1, 1], "block": [-1, 0], "copy": -1, "fuse": -1,
    }  # fmt: skip
    return {f"{block}.{knob}": value for knob, value in {**usual, **knobs}.items()}


TILE = tiled("C")
FORCED: list[tuple[PrimFunc, int, dict[str, object], str]] = [
    (
        product(16, 24, 6), 1,
        {"C.sketch": "panels", "C.turned": 0, "C.rows": 2, "C.vectors": 1, "C.lanes": 8,
         "C.packed": 1, "C.stacked": 0, "C.by_rows": 1, "C.cut": 0, "C.deep": 0,
         "C.unroll": 2, "C.strip": 4},
        nest(2, 3, 4),
    ),
    (
        product(6, 16, 700), 1,
        {"C.sketch": "panels", "C.turned": 0, "C.rows": 3, "C.vectors": 1, "C.lanes": 8,
         "C.packed": 1, "C.stacked": 0, "C.by_rows": 0, "C.cut": 0, "C.deep": 234,
         "C.unroll": 1, "C.strip": 1},
        r"serial\(0, 3, partition=True\)[\s\S]*serial\(0, 234\)",
    ),
    (
        convolution(2, 16, 6), 1,
        {"Y.sketch": "tile", "Y.lanes": 8, "Y.vectors": 1, "Y.row": 1, "Y.rows": 4, "Y.order": 1,
         "Y.near": -1, "Y.lines": 1, "Y.unroll": 1, "Y.strip": [0, 2],
         "Y.block": [-1, 0], "Y.copy": -1, "Y.fuse": -1},
        nest(3, 4, 2, 2),
    ),
    (
        convolution(2, 16, 6), 1,
        {"Y.sketch": "tile", "Y.lanes": 8, "Y.vectors": 1, "Y.row": 0, "Y.rows": 2, "Y.order": 1,
         "Y.near": 1, "Y.lines": 2, "Y.unroll": -2, "Y.strip": [-1, 1], "Y.block": [1, 4],
         "Y.copy": -1, "Y.fuse": -1},
        nest(2, 3, 4, 2, 2, 2) + r"[\s\S]*" + nest(2, 3, 3, 2, 2),
    ),
    (  # A copy in panels, of the whole operand, and one that each tile makes for itself.
        nearest(5, 23, 6), 1, TILE | {"C.copy": 2}, r"B_global\[v1 // 8, v0, v1 % 8\]",
    ),
    (
        nearest(5, 24, 6), 1, TILE | {"C.copy": 1, "C.fuse": 1},
        r"for j_0 in serial\(0, 3\):\s+B_global = alloc",
    ),
    (  # Tiles of both products, for four rows after four.
        chain(8, 16), 1,
        {"T.stage": "at 0 by 4"} | tiled("T", row=0, rows=2) | tiled("Y", row=0, rows=2),
        r"for i_0 in \w+\(0, 2\):[\s\S]*T_local = alloc[\s\S]*Y_local = alloc",
    ),
    (
        blur(40), 1, {"across.stage": "at 0 by 16"},
        r"min\(i_0 \* 16, \d+\)",
    ),
    (sums(6, 64), 1, {"S.sketch": "lanes", "S.vectors": 2, "S.parts": 1}, r"vectorized\(0, 8\)"),
    (sums(1, 96), 2, {"S.sketch": "lanes", "S.vectors": 1, "S.parts": 2}, r"parallel\(0, 2\)"),
    (
        product(16, 32, 6), 2,
        {"threads.sketch": "nest", "threads.depth": 0, "threads.fused": 2}, "parallel",
    ),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(FORCED)))
def test_strips_lanes_and_threads_are_in_the_loops_and_change_no_result(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irkit.autoschedule.threads.WORTH", 1)
    func, threads, values, wanted = FORCED[at]
    space = task(func, threads=threads).space
    assert estimate(space, values) < float("inf")
    made = space.derive(values).func
    assert re.search(wanted, made.script())
    assert made.script() != space.derive({}).func.script()
    assert results(made) == results(func)


def test_a_tile_that_overlaps_another_has_no_strips() -> None:
    space = task(product(17, 32, 6)).space
    setting = {**FORCED[0][2], "C.rows": 2}
    assert estimate(space, {**setting, "C.strip": 3}) == float("inf")


STARTED: dict[str, Callable[[], PrimFunc]] = {
    "product": lambda: product(64, 96, 64),
    "product of primes": lambda: product(61, 97, 31),
    "nearest": lambda: nearest(64, 64, 64),
    "convolution": lambda: convolution(16, 32, 32),
    "blocked": lambda: convolution(64, 56, 64),
    "merged": lambda: nearest_filters(16, 14, 32),
}


@pytest.mark.parametrize("name", STARTED)
def test_a_search_begins_beside_what_the_rules_choose(name: str) -> None:
    space = task(STARTED[name]()).space
    first = started(space)
    assert first
    assert same(space.derive(first).func, space.derive({}).func)
    assert estimate(space, first) == estimate(space, {})


def test_a_reduction_computed_again_and_again_is_expected_to_take_longer() -> None:
    space = task(chain(32, 16)).space
    usual = estimate(space, {})
    assert estimate(space, {"T.stage": "at 1"}) > estimate(space, {"T.stage": "at 0"}) > usual
    inside = {"T.stage": "at 2"}
    (group,) = [each for each in space.groups(inside) if each.name == "T"]
    assert group.repeated == 16
    rng = Random(0)
    for sketch in group.sketches:
        setting = drawn_setting(sketch, rng)
        if setting is not None:
            assert estimate(space, inside | named(group, sketch, setting)) > 4 * usual


def test_copies_that_tiles_make_are_expected_as_often_as_they_run() -> None:
    space, rng, deep = task(product(64, 96, 64), machine=Machine()).space, Random(3), 0
    (group,) = space.groups({})
    tile = next(each for each in group.sketches if isinstance(each, TileSketch))
    plain = {"strip": [-1, 1], "block": [-1, 0]}
    for _ in range(250):
        drawn = drawn_setting(tile, rng)
        if drawn is None or drawn["copy"] < 0 or not is_legal(tile, drawn | plain):
            continue
        copy, setting = tile.copies[drawn["copy"]], drawn | plain
        try:
            made = space.derive(named(group, tile, setting)).func
        except ScheduleError:
            continue
        ran = runs_of(made.body)[f"C_{copy.buffer}"]
        expected = (
            (tile.cycles(setting) - tile.cycles(setting | {"copy": -1})) * setting["lanes"] / 2
        )
        assert expected <= 2 * ran
        deep += setting["fuse"] == 1
        assert setting["fuse"] < 1 or expected >= ran / 2
    assert deep > 3


def runs_of(stmt: Node, times: int = 1) -> Counter[str]:
    """Return how often each block runs."""
    found = Counter({stmt.name: times} if isinstance(stmt, Block) else {})
    times *= (as_int(stmt.end) or 1) if isinstance(stmt, For) else 1
    for below in children(stmt):
        found += Counter() if below.expression else runs_of(below, times)
    return found


def test_one_thread_decides_nothing_about_threads() -> None:
    func = product(16, 32, 6)
    assert [group.name for group in task(func).space.groups({})] == ["C"]
    assert [group.name for group in task(func, threads=2).space.groups({})] == ["C", "threads"]


def test_most_decisions_about_a_fused_kernel_are_legal() -> None:
    space, rng = task(activated(1, 8, 2)).space, Random(0)
    wanted, legal = results(space.func), 0
    for _ in range(8):
        try:
            made = space.derive(sampled(space, rng))
        except ScheduleError:
            continue
        legal += 1
        assert results(made.func) == wanted
    assert legal >= 6


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_decisions_are_the_automatic_schedule(name: str) -> None:
    found = task(PROGRAMS[name]())
    assert same(found.space.derive({}).func, auto_schedule(found.func, found.space.machine))


def test_a_prime_extent_has_tiles_of_many_sizes() -> None:
    space = task(product(509, 503, 64)).space
    (group,) = space.groups({})
    assert len(group.sketch("panels").knobs["rows"]) > 8
    rng = Random(0)
    drawn = [sampled(space, rng) for _ in range(60)]
    assert len({each.get("C.rows") for each in drawn}) > 5


def test_the_same_seed_draws_the_same_decisions() -> None:
    def drawn() -> list[dict[str, object]]:
        space, rng = task(convolution(4, 14, 8)).space, Random(3)
        made = [sampled(space, rng) for _ in range(20)]
        return made + [mutated(space, each, rng) for each in made]

    assert drawn() == drawn()


def test_what_is_drawn_has_an_estimate_and_what_is_not_legal_has_none() -> None:
    space, rng = task(product(64, 64, 64)).space, Random(1)
    assert all(estimate(space, sampled(space, rng)) < float("inf") for _ in range(30))
    assert estimate(space, {"C.sketch": "panels", "C.rows": 3}) == float("inf")
    wide = {
        "C.sketch": "tile", "C.lanes": 8, "C.vectors": 8, "C.row": 0, "C.rows": 16,
        "C.order": 0, "C.unroll": 8, "C.strip": [-1, 1],
    }  # fmt: skip
    assert estimate(space, wide) == float("inf")


def test_a_space_that_was_pickled_makes_the_same_loops() -> None:
    space = task(product(8, 32, 8)).space
    values = sampled(space, Random(0))
    other = pickle.loads(pickle.dumps(space))
    assert other.derive(values).func.script() == space.derive(values).func.script()


def test_a_stage_can_be_computed_where_it_is_read() -> None:
    space = task(blur(40)).space
    assert space.stages["across.stage"] == (
        "auto", "inline", "root", "at 0", "at 1", "at 0 by 4", "at 0 by 16",
        "at 1 by 4", "at 1 by 16",
    )  # fmt: skip
    made = space.derive({"across.stage": "at 0"}).func
    assert results(made) == results(space.func)
    assert made.script() != space.derive({}).func.script()


@pytest.mark.parametrize("place", ["at 7", "at 2"])
def test_a_place_that_is_not_there_is_refused(place: str) -> None:
    with pytest.raises(ScheduleError, match="loops"):
        task(blur(40)).space.derive({"across.stage": place})
