"""Packages of any size run in a process that cannot import llvmlite, with the same checks."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

import irkit
from irkit.core import IRModule
from irkit.graph import Builder, Dimension, StatePair, with_dimensions, with_state
from irkit.ir import Var
from irkit.runtime import Model

# The path of the packages, then what runs in the child.
CHILD = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "llvmlite":
            raise ImportError(name)

sys.meta_path.insert(0, Refused())
from pathlib import Path
import numpy as np, irkit
from irkit.runtime import num_threads, set_num_threads
folder = Path(sys.argv[1])

def refusal(run):
    try:
        run()
    except irkit.IRKitError as error:
        return str(error)
    raise AssertionError("it was not refused")

assert "holds the pool of threads" in refusal(lambda: irkit.load(folder / "old.irkit"))
set_num_threads(2)
given = np.load(folder / "given.npz")
open_sizes = irkit.load(folder / "open.irkit")
for name in given.files:
    if name.startswith("x"):
        found = open_sizes.run({"x": given[name]})
        assert np.array_equal(found["y"], given["y" + name[1:]]), name
assert num_threads() == 2
assert "'n' must be from 1 to 64" in refusal(lambda: open_sizes.run({"x": np.zeros((65, 96), "f")}))
assert "more than the limit of" in refusal(lambda: open_sizes.run({"x": np.zeros((64, 96), "f")}))

cell = irkit.load(folder / "cell.irkit")
h = np.ones((1, 4), "f")
cell.run({"h": h, "x": np.full((1, 4), 2, "f")})
assert h.tolist() == [[3.0] * 4]
strided = np.ones((1, 8), "f")[:, ::2]
assert "contiguous" in refusal(lambda: cell.run({"h": strided, "x": h}))
assert "compiling needs llvmlite" in refusal(lambda: irkit.compile(irkit.IRModule({})))
profile = open_sizes.profile({"x": given["x3"]}, runs=1)
assert profile.kernels
assert "llvmlite.binding" not in sys.modules
print("done")
"""


def open_model() -> Model:
    b, n = Builder("main"), Var("n")
    x = b.param("x", (n, 96))
    draw = np.random.default_rng(3)
    weight = b.constant(draw.standard_normal((96, 96)).astype(np.float32))
    func = b.finish(b.op("matmul", x, weight), outputs=("y",))
    module = IRModule({"main": with_dimensions(func, {"n": Dimension("n", 1, 64)})})
    return irkit.compile(module, keep_trace=False, memory_limit=20_000)


def cell_model() -> Model:
    b = Builder("main")
    h, x = b.param("h", (1, 4)), b.param("x", (1, 4))
    func = b.finish(b.op("add", h, x), outputs=("h_next",))
    return irkit.compile(IRModule({"main": with_state(func, (StatePair(0, 0),))}), keep_trace=False)


def older(path: Path) -> None:
    """Write a package as irkit did before packages had a pool."""
    with zipfile.ZipFile(path) as new, zipfile.ZipFile(path.with_name("old.irkit"), "w") as old:
        listed = json.loads(new.read("manifest.json"))
        assert listed["members"].pop("pool.o")
        (only,) = listed.pop("models")
        listed |= {"format": 1, "target": only["target"]}
        old.writestr("manifest.json", json.dumps(listed))
        for name in listed["members"]:
            old.writestr(name, new.read(name))


def test_packages_run_and_refuse_without_llvm(tmp_path: Path) -> None:
    model, draw = open_model(), np.random.default_rng(0)
    arrays = {f"x{n}": draw.standard_normal((n, 96)).astype(np.float32) for n in (1, 3, 17, 40)}
    results = {f"y{key[1:]}": model.run({"x": x})["y"] for key, x in arrays.items()}
    np.savez(tmp_path / "given.npz", **arrays, **results)
    model.save(tmp_path / "open.irkit")
    cell_model().save(tmp_path / "cell.irkit")
    older(tmp_path / "open.irkit")
    loaded = irkit.load(tmp_path / "old.irkit").run({"x": arrays["x3"]})["y"]
    np.testing.assert_array_equal(loaded, results["y3"])
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "done\n", done.stderr
