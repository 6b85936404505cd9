"""Compile time and memory of whole models, each in a process of its own: nothing kept, on one
process and on several; kernels kept; the model kept.

    python -m benchmarks.compiler.model_compiles resnet50 densenet121 vgg19 bert

Networks of the onnx package get random weights, which are in the file, as a trained network's are.
``bert`` has the layout of bert-base: 12 layers, width 768, 12 heads, 128 tokens. Memory is the
largest resident set of the process, its forks' pages that are not shared left out.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from benchmarks.native_code.models import light_model
from benchmarks.native_code.onnx_nets import bert

_CHILD = """
import json, resource, sys, time
start = time.perf_counter()
import irkit
from irkit import compile
loaded = time.perf_counter()
model = compile(sys.argv[1])
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([loaded - start, done - loaded, peak, model.plan.param_bytes]))
"""


def with_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace the weights that nodes make by random ones in the file."""
    rng = np.random.default_rng(0)
    known = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        if node.op_type != "ConstantOfShape" or node.input[0] not in known:
            model.graph.node.append(node)
            continue
        shape = tuple(int(dim) for dim in known[node.input[0]])
        scale = np.float32(1 / max(np.prod(shape[1:]), 1))
        array = np.abs(rng.standard_normal(shape, dtype=np.float32)) * scale
        model.graph.initializer.append(numpy_helper.from_array(array, node.output[0]))
    return model


def bert_base() -> onnx.ModelProto:
    """Return a model with the layout of bert-base, for one row of 128 tokens."""
    model = bert(layers=12, width=768, heads=12).model()
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            dim.dim_value = {"batch": 1, "seq": 128}[dim.dim_param]
    return model


def measure(path: Path, cache: str, jobs: str = "") -> list[float]:
    """Compile in a process of its own; return the seconds to import and to compile, the peak of
    memory and the bytes of the weights."""
    env = {**os.environ, "IRKIT_CACHE": "0", "IRKIT_COMPILE_JOBS": jobs}
    if cache:
        env |= {"IRKIT_CACHE": "1", "IRKIT_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path)], env=env, check=True, capture_output=True
    )
    return json.loads(done.stdout)


def compiles(name: str, path: Path, cache: Path) -> Iterable[str]:
    """Yield a line for each way to compile a model."""
    cache.mkdir(mode=0o700)
    measure(path, str(cache))
    models = list(cache.glob("*.model"))
    ways = {
        "nothing kept": ("", ""),
        "nothing kept, one process": ("", "1"),
        "the model kept": (str(cache), ""),
        "its kernels kept": (str(cache), ""),
    }
    for way, (folder, jobs) in ways.items():
        if way == "its kernels kept":
            for each in models:
                each.unlink()
        importing, seconds, peak, weights = measure(path, folder, jobs)
        yield (
            f"{name}, {way}: {seconds:.2f} s after {importing:.2f} s to import, "
            f"peak {peak / 1e6:.0f} MB, weights {weights / 1e6:.0f} MB"
        )


def main(names: Iterable[str]) -> None:
    """Print the lines of some models."""
    with tempfile.TemporaryDirectory(prefix="irkit-") as folder:
        for name in names:
            path = Path(folder) / f"{name}.onnx"
            if name == "bert":
                made = bert_base()
            else:
                made = with_weights(onnx.ModelProto.FromString(light_model(name).read_bytes()))
            path.write_bytes(made.SerializeToString())
            del made
            for line in compiles(name, path, Path(folder) / name):
                print(line, flush=True)
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:] or ["squeezenet", "resnet50", "densenet121"])
