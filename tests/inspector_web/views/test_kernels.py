"""Tests for the kernels of a run: operators, nodes of the model, and work."""

from pathlib import Path

from irkit.inspector_web import Texts
from irkit.inspector_web.runs.run import LEVELS
from irkit.inspector_web.views.kernels import KernelInfo, kernels
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.pages import MATMUL, conv_model, opened_model


def test_a_function_alone_has_its_work_and_no_operators() -> None:
    found = kernels(Texts(Trace(trace(parse(MATMUL)))))
    assert found == [KernelInfo("matmul", flops=2 * 64**3, bytes=4 * 64 * 64 * 4)]


def test_an_unknown_extent_is_not_taken_for_nothing() -> None:
    text = "def f(n: i64, A: f32[n]):\n    for i in serial(0, n):\n        A[i] = A[i] + f32(1.0)\n"
    found = kernels(Texts(Trace(trace(parse(text)))))
    assert [(each.flops, each.bytes) for each in found] == [(None, None)]


def test_what_kernels_became_is_not_read(tmp_path: Path) -> None:
    Trace(trace(parse(MATMUL))).save(tmp_path / "f.trace")
    made = Trace.load(tmp_path / "f.trace", LEVELS)
    unread = [step.unread for step in made]
    assert kernels(Texts(made)) == [KernelInfo("matmul", flops=2 * 64**3, bytes=4 * 64 * 64 * 4)]
    assert [step.unread for step in made][-1] > 0
    assert sum(step.unread for step in made) < sum(unread)


def test_a_fused_kernel_knows_its_operators_and_the_nodes_of_the_model(tmp_path: Path) -> None:
    inspection = opened_model(conv_model)
    assert inspection.workspace is not None
    found, softmax = kernels(inspection.workspace.runs[0].texts)
    inspection.close()
    assert (found.operators, found.shape) == (["conv", "relu"], "[1, 8, 6, 6]")
    assert (found.nodes, found.weights) == (["block/conv", "block/relu"], "block/conv")
    assert (found.calls, softmax.calls) == (1, 1)
    assert (softmax.operators, softmax.nodes, softmax.weights) == (["softmax"], ["last"], "")
    assert (found.flops or 0) >= 2 * 8 * 3 * 9 * 36
