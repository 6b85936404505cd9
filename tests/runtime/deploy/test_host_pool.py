"""Models as C whose parallel loops run on a pool of the host's."""

import ctypes
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRModule
from irkit.graph import Builder
from irkit.runtime import build_library
from tests.codegen.c.build import needs_compiler
from tests.runtime.deploy.dlpack import VERSION, CModel, Options, Parallel, tensor

pytestmark = needs_compiler
SHAPE = (1024, 1024)


def network() -> IRModule:
    b = Builder()
    x = b.param("x", SHAPE)
    return IRModule({"main": b.finish(b.op("tanh", b.op("softmax", x, axis=-1)))})


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "libnet.so"
    build_library(irkit.compile(network(), target="c"), path, "shared", name="net")
    return path


class Host:
    """A pool that runs a loop in seven parts, the last first, in some threads."""

    def __init__(self, answer: int = 0) -> None:
        self.answer = answer
        self.loops: list[tuple[int, int]] = []
        self.function = Parallel(self._run)

    def options(self) -> Options:
        size = ctypes.sizeof(Options)
        return Options(size, VERSION, None, 0, None, self.function, ctypes.c_void_p(5))

    def _run(self, context: int, begin: int, end: int, body: Any, data: int) -> int:
        assert context == 5
        self.loops.append((begin, end))
        if self.answer:
            return self.answer

        def part(first: int, last: int) -> int:
            return body(data, first, last)

        with ThreadPoolExecutor(3) as threads:
            ends = [begin + (end - begin) * part // 7 for part in range(8)]
            return max(threads.map(part, ends[-2::-1], ends[:0:-1]))


def given() -> dict[str, Any]:
    return {"x": np.random.default_rng(2).standard_normal(SHAPE).astype(np.float32)}


def test_the_pool_of_a_host_runs_the_loops_of_a_model(library: Path) -> None:
    host = Host()
    alone, pooled = CModel(library, "net"), CModel(library, "net", host.options())
    wanted, found = alone.run(given()), pooled.run(given())
    assert host.loops
    assert all(end - begin > 1 for begin, end in host.loops)
    for name, array in wanted.items():
        assert array.any()
        np.testing.assert_array_equal(found[name], array)
    for each in (alone, pooled):
        each.close()


def test_a_pool_that_fails_is_an_error_of_the_run(library: Path) -> None:
    host = Host(answer=3)
    model = CModel(library, "net", host.options())
    made = np.zeros(SHAPE, np.float32)
    assert model.run_tensors([tensor(given()["x"])], [tensor(made)]) == 4
    assert "the host's pool did not run kernel" in model.error
    assert len(host.loops) == 1
    host.answer = 0
    assert model.run_tensors([tensor(given()["x"])], [tensor(made)]) == 0
    assert made.any()
    model.close()
