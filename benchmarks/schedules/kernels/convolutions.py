"""Random convolutions, batch 1, f32: plain, depthwise and in groups."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from benchmarks.schedules.kernels.case import Case, floats, log_uniform
from irkit import te, topi

onnxruntime: Any = import_module("onnxruntime")
torch: Any = import_module("torch")
COUNT = 100
_FEWEST, _MOST = 1 << 17, 1 << 29  # multiplications


def convolutions(threads: int, seed: int = 2) -> Iterator[Case]:
    """Draw layers of 1x1 to 7x7, strides 1 and 2."""
    rng = np.random.default_rng(seed)
    for _ in range(COUNT):
        yield _layer(rng, threads)


def _layer(rng: np.random.Generator, threads: int) -> Case:
    while True:
        kind = str(rng.choice(["plain", "plain", "plain", "depthwise", "groups"]))
        side = int(rng.choice([7, 14, 28, 56, 112, log_uniform(rng, 7, 112)]))
        kernel, stride = int(rng.choice([1, 3, 5, 7])), int(rng.choice([1, 1, 2]))
        if kind == "depthwise":
            into = out = groups = log_uniform(rng, 8, 512)
        else:
            groups = int(rng.choice([2, 4, 8])) if kind == "groups" else 1
            into, out = (log_uniform(rng, 1, 512 // groups) * groups for _ in range(2))
        work = into // groups * out * kernel**2 * (-(-side // stride)) ** 2
        if kernel <= side and _FEWEST <= work <= _MOST:
            break
    x, w = floats(rng, 1, into, side, side), floats(rng, out, into // groups, kernel, kernel)
    pads, strides = (kernel // 2,) * 4, (stride, stride)
    places = te.placeholder(x.shape, name="x"), te.placeholder(w.shape, name="w")
    y = topi.nn.conv(*places, strides=strides, pads=pads, groups=groups)
    given = torch.from_numpy(x), torch.from_numpy(w)
    by_torch = partial(
        torch.nn.functional.conv2d, *given, None, strides, (kernel // 2,) * 2, 1, groups
    )
    result = np.zeros(tuple(by_torch().shape), np.float32)
    peers = {"torch": by_torch, "onnxruntime": _session(x, w, pads, strides, groups, threads)}
    name = f"{kind} {into}->{out}@{side} {kernel}x{kernel}/{stride}/{groups}"
    return Case(name, te.create_prim_func([*places, y]), [x, w, result], peers, tolerance=1e-2)


def _session(
    x: Any, w: Any, pads: tuple[int, ...], strides: tuple[int, ...], groups: int, threads: int
) -> Any:
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, strides=strides, group=groups)
    value = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT)
    inputs, outputs = [value("x", shape=x.shape)], [value("y", shape=None)]
    weights = [numpy_helper.from_array(w, "w")]
    model = helper.make_model(
        helper.make_graph([node], "g", inputs, outputs, weights),
        opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8,
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run() -> Any:
        return session.run(None, {"x": x})[0]

    return run
