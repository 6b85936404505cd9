"""Each line leads back to what the user wrote."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import irkit
from irkit.core import Span, rewrite
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES, scheduled
from irkit.fuzz.generators.seed_corpus.texts import KERNELS
from irkit.inspector_web import Texts
from irkit.inspector_web.views.origin import origins
from irkit.ir import Stmt
from irkit.phases import DEFAULT, trace
from irkit.transform import Trace
from tests.inspector_web.views.origin_programs import from_text
from tests.passes.loop.kernels import kernel


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_nearly_every_line_of_every_step_leads_back_to_the_text(name: str) -> None:
    texts = from_text(name)
    for step in texts.trace:
        found = origins(texts, step.after)
        assert found.working.any()
        assert found.share >= 0.95, f"{step.name}: {found.share}"


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_schedules_lose_no_line(name: str) -> None:
    func, primitives = scheduled(name)
    texts = Texts(Trace(DEFAULT.with_passes([(0, p) for p in primitives]).steps(func)))
    for step in texts.trace:
        assert origins(texts, step.after).share >= 0.95, step.name


def test_a_store_leads_back_to_the_line_it_was_written_on() -> None:
    texts = from_text("MATMUL")
    source = KERNELS["MATMUL"].strip().splitlines()
    for step in texts.trace:
        found = origins(texts, step.after)
        for at, line in enumerate(texts.lines(step.index), 1):
            if "] = " in line and "view(" not in line:
                written = source[found.of(at)[0].line - 1]
                assert ("f32(0.0)" in written) == line.rstrip().endswith("= 0.0")


def test_a_schedule_alone_is_not_an_origin() -> None:
    lost = Span("schedule", "split")
    bare = rewrite(kernel("MATMUL"), lambda stmt: stmt.replace(span=lost), on=Stmt)
    own = Texts(Trace(trace(bare)))
    assert origins(own, own.trace[0].before).share == 0.0


@pytest.fixture(scope="module")
def model() -> Texts:
    weights = np.ones((16, 8), dtype=np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="first/matmul"),
            helper.make_node("Relu", ["h"], ["r"], name="second/relu"),
            helper.make_node("Softmax", ["r"], ["y"], name="third/softmax"),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return Texts(irkit.compile(made).trace)


def test_every_line_of_a_model_leads_back_to_its_onnx_node(model: Texts) -> None:
    nodes = set[str]()
    for step in model.trace:
        found = origins(model, step.after)
        chains = [found.of(at + 1) for at in np.flatnonzero(found.working)]
        kept = [chain for chain in chains if chain and chain[-1].kind == "onnx"]
        assert len(kept) >= 0.95 * len(chains)
        nodes |= {chain[-1].name for chain in kept}
    assert {"first/matmul", "second/relu", "third/softmax"} <= nodes
