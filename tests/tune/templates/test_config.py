from typing import Any

import pytest

import irkit
from irkit import te
from irkit.core import IRKitError, ScheduleError
from irkit.ir import verify
from irkit.tune import Config
from tests.tune.programs import product


def tensors() -> tuple[te.Tensor, te.StageSchedule]:
    a = te.placeholder((13, 17), name="A")
    c = te.compute((13, 17), lambda i, j: a[i, j] * 2.0, name="C")
    return c, te.create_schedule(c.op)


def test_without_values_each_knob_has_its_first() -> None:
    cfg = Config()
    cfg.define_knob("unroll", [4, 8])
    cfg.define_split("tile", 16, num_outputs=2)
    assert cfg["unroll"].val == 4
    assert cfg["tile"].size == [-1, 1]


def test_a_prime_extent_has_more_than_one_tile() -> None:
    cfg = Config()
    cfg.define_split("tails", 509, num_outputs=2)
    cfg.define_split("factors", 509, num_outputs=2, policy="factors")
    assert [-1, 8] in cfg["tails"].values
    assert cfg["factors"].values == ([-1, 1], [-1, 509])


@pytest.mark.parametrize("policy", ["factors", "power2", "verbose", "tails"])
@pytest.mark.parametrize("parts", [2, 3])
def test_splits_of_each_policy_cover_the_loop(policy: str, parts: int) -> None:
    cfg = Config()
    cfg.define_split("t", 12, num_outputs=parts, policy=policy)
    assert all(len(each) == parts and each[0] == -1 for each in cfg["t"].values)
    if policy == "factors":
        for _, *inner in cfg["t"].values:
            size = 1
            for each in inner:
                size *= each
            assert 12 % size == 0


@pytest.mark.parametrize("size", [[-1, 4], [-1, 5], [-1, 17]])
def test_a_split_applies_to_a_schedule_of_tensors(size: list[int]) -> None:
    c, s = tensors()
    cfg = Config({"x": size})
    cfg.define_split("x", s[c].axis[1], num_outputs=2, policy="verbose")
    outer, inner = cfg["x"].apply(s, c, s[c].axis[1])
    s[c].vectorize(inner)
    assert not verify(s.func)
    assert outer is not inner


def test_knobs_apply_to_a_schedule_of_loops() -> None:
    sch = irkit.Schedule(product(8, 16, 4))
    i, j, k = sch.get_loops(sch.get_block("C"))
    cfg = Config({"y": [-1, 4], "order": [0, 2, 1, 3], "how": ["none", "none", "none", "vec"]})
    cfg.define_split("y", sch.loop(i), num_outputs=2)
    yo, yi = cfg["y"].apply(sch, i)
    cfg.define_reorder("order", [yo, yi, k, j])
    loops = cfg["order"].apply(sch, [yo, yi, k, j])
    cfg.define_annotate("how", loops, policy="try_unroll_vec")
    cfg["how"].apply(sch, loops)
    kinds = [sch.loop(loop).kind for loop in sch.get_loops(sch.get_block("C"))]
    assert kinds == ["serial", "serial", "serial", "vectorized"]


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda cfg: cfg.define_knob("x", []), "no value"),
        (lambda cfg: [cfg.define_knob("x", [1]), cfg.define_knob("x", [1])], "twice"),
        (lambda cfg: cfg.define_split("x", 8, filter=lambda e: False), "no value"),
        (lambda cfg: cfg.define_split("x", 8, policy="some"), "policy"),
        (lambda cfg: cfg.define_annotate("x", [1], policy="try_all"), "policy"),
        (lambda cfg: cfg["y"], "no knob 'y'"),
    ],
)
def test_a_mistake_in_a_template_names_the_knob(define: Any, message: str) -> None:
    with pytest.raises(IRKitError, match=message):
        define(Config())


def test_a_value_that_a_knob_does_not_have_is_refused() -> None:
    with pytest.raises(IRKitError, match="has no value"):
        Config({"x": [-1, 3]}).define_split("x", 8)
    with pytest.raises(ScheduleError, match="constant extent; found Var"):
        Config().define_split("x", te.var("n"))


def test_a_reference_to_a_loop_is_told_what_to_pass_instead() -> None:
    sch = irkit.Schedule(product(8, 8, 8))
    loop = sch.get_loops(sch.get_block("C"))[0]
    with pytest.raises(ScheduleError, match="constant extent") as raised:
        Config().define_split("x", loop)  # pyright: ignore[reportArgumentType]
    assert "sch.get(loop)" in raised.value.hint
    Config().define_split("x", sch.get(loop))
