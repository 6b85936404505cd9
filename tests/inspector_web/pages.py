"""What tests of the page share: traces, models, and a client with access."""

import atexit
import os
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import onnx
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.job_registry import JOB_KINDS
from irkit.inspector_web.load import Inspection
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.server.app import create_app
from irkit.inspector_web.server.security import new_access_rules
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Step, Trace

MATMUL = """\
def matmul(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):
    for i in parallel(0, 64):
        for j in serial(0, 64):
            for k in serial(0, 64):
                with block("C"):
                    vi = axis.spatial(64, i)
                    vj = axis.spatial(64, j)
                    vk = axis.reduce(64, k)
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""

FAILING = """\
import irkit
from irkit.ir import PrimFunc, parse
from irkit.phases import DEFAULT
from irkit.transform import define_pass

@define_pass
def explode(func: PrimFunc) -> PrimFunc:
    raise ValueError("boom <b>")

func = parse("def f(C: f32[8]):\\n    for i in serial(0, 8):\\n        C[i] = f32(1.0)\\n")
irkit.lower(func)
irkit.lower(func, pipeline=DEFAULT.insert(explode, phase=2))
"""
"""A script that lowers a function twice; the second time a pass fails."""

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "'-alert(1)-'",
    "&lt;b&gt;",
    "<!--",
    "]]>",
    "{{7*7}}",
    "javascript:alert(1)",
    "../../etc/passwd",
    "\u202eevil",
    "a\u2028b",
)


def matmul_trace(folder: Path, name: str = "matmul.trace") -> str:
    """Write the trace of a matrix product."""
    path = folder / name
    Trace(_matmul_steps(), title=name).save(path)
    return str(path)


@cache
def _matmul_steps() -> tuple[Step, ...]:
    return tuple(trace(parse(MATMUL, file="matmul.irs")))


def hostile_trace(folder: Path) -> str:
    """Write a trace in which everything that has a name has a hostile one."""
    names = ", ".join(f"x_{at}: f32[8]" for at in range(len(HOSTILE)))
    called = ", ".join(f"x_{at}={name!r}" for at, name in enumerate(HOSTILE))
    body = "".join(
        f"    for i_{at} in serial(0, 8):\n        x_{at}[i_{at}] = f32(1.0)\n"
        for at in range(len(HOSTILE))
    )
    text = f"@name({HOSTILE[0]!r})\n@names({called})\ndef f({names}):\n{body}"
    func = parse(text, file="<b>hostile</b>.irs")
    path = folder / "hostile.trace"
    Trace(trace(func), title=HOSTILE[1]).save(path)
    return str(path)


def relu_model(folder: Path) -> str:
    """Write a small model."""
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name="first/relu")
    ends = [onnx.helper.make_tensor_value_info(name, 1, [4, 4]) for name in "xy"]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", ends[:1], ends[1:]))
    path = folder / "relu.onnx"
    onnx.save(model, str(path))
    return str(path)


def conv_model(folder: Path) -> str:
    """Write a model of two kernels: a convolution with what is fused into it, and a softmax."""
    helper = onnx.helper
    nodes = [
        helper.make_node("Conv", ["x", "block/conv_w", "block/conv_b"], ["c"], name="block/conv"),
        helper.make_node("Relu", ["c"], ["r"], name="block/relu"),
        helper.make_node("Softmax", ["r"], ["y"], name="last", axis=-1),
    ]
    weights = {"block/conv_w": (8, 3, 3, 3), "block/conv_b": (8,)}
    kept = [
        onnx.numpy_helper.from_array(np.ones(shape, dtype=np.float32), name)
        for name, shape in weights.items()
    ]
    ends = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("x", [1, 3, 8, 8]), ("y", [1, 8, 6, 6]))
    ]
    path = folder / "conv.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], kept)), str(path))
    return str(path)


def blocks_model(folder: Path) -> str:
    """Write a model of four equal blocks: two branches of an input, which are added."""
    helper, rng = onnx.helper, np.random.default_rng(0)
    nodes, kept, at = [helper.make_node("MaxPool", ["x"], ["b0"], kernel_shape=[2, 2])], [], "b0"
    for number in range(1, 5):
        for side in ("left", "right"):
            weights = rng.random((4, 4, 1, 1), np.float32)
            name = f"block{number}/{side}_w"
            kept.append(onnx.numpy_helper.from_array(weights, name))
            nodes += [
                helper.make_node("Conv", [at, name], [f"{side}{number}"]),
                helper.make_node("Relu", [f"{side}{number}"], [f"{side}{number}r"]),
            ]
        nodes.append(
            helper.make_node(
                "Concat", [f"left{number}r", f"right{number}r"], [f"c{number}"], axis=2
            )
        )
        nodes.append(
            helper.make_node(
                "MaxPool", [f"c{number}"], [f"b{number}"], kernel_shape=[2, 1], strides=[2, 1]
            )
        )
        at = f"b{number}"
    nodes.append(helper.make_node("Softmax", [at], ["y"], axis=-1))
    ends = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("x", [1, 4, 9, 9]), ("y", [1, 4, 8, 8]))
    ]
    path = folder / "blocks.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:], kept)), str(path))
    return str(path)


def opened(*files: str) -> Inspection:
    """Open files and wait until that is done."""
    inspection = Inspection(files)
    inspection.open()
    assert inspection.message == ""
    return inspection


def opened_model(make: Callable[[Path], str], *more: str) -> Inspection:
    """Open a model, and further files, as ``opened`` does.

    A child lowers each model once for all tests: that takes longer than most of them.
    """
    file, loaded = _lowered(make)
    inspection = Inspection((file, *more))
    load = inspection._load  # pyright: ignore[reportPrivateUsage]
    setattr(inspection, "_load", lambda each: list(loaded) if each == file else load(each))
    inspection.open()
    assert inspection.message == ""
    return inspection


@cache
def _lowered(make: Callable[[Path], str]) -> tuple[str, list[LoadedTrace]]:
    folder = Path(mkdtemp(prefix="irkit-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    inspection = opened(make(folder))
    assert inspection.workspace is not None
    found = [run.loaded for run in inspection.workspace.runs]
    inspection.close()
    return inspection.files[0], found


HERE = "http://127.0.0.1:4321"


class Client(FlaskClient):
    """A client of an application on port 4321; ``token`` is what lets it in."""

    here = HERE
    token = ""

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        """Send a request there."""
        kwargs.setdefault("base_url", self.here)
        return super().open(*args, **kwargs)


def client_of(
    inspection: Inspection,
    *,
    let_in: bool = True,
    kinds: Mapping[str, JobKind] = JOB_KINDS,
    read_only: bool = False,
) -> Client:
    """Make a client, which has the cookie if it is let in."""
    rules = new_access_rules(read_only=read_only)
    rules.port = 4321
    app = create_app(inspection, rules, kinds)
    app.test_client_class = Client
    client = app.test_client()
    assert isinstance(client, Client)
    client.token = rules.token
    if let_in:
        answer = client.get(f"/?token={rules.token}")
        assert answer.status_code == 200
    return client


def chromium(*, windows: bool = False) -> str | None:
    """Find a browser: the one without windows, which takes a fifth less time, unless it must be the
    other."""
    light = None if windows else shutil.which("chromium-headless-shell")
    named = os.environ.get("IRKIT_CHROMIUM")
    return named or light or shutil.which("chromium") or shutil.which("google-chrome")
