"""A model as WebAssembly: one module of its kernels and executor, its plan as JSON, its weights.

``bindings/js/irkit.js`` runs it in a browser or in Node. The module imports an allocator, copies of
memory and the few functions of the C library that kernels call; the host gives them.
"""

import os
import shutil
import tempfile
from pathlib import Path

import msgspec

from irkit.codegen import ENTRY, SIZES
from irkit.core import IRKitError, atomic_write
from irkit.runtime.deploy import run_tool
from irkit.runtime.model import Model

LINKERS = ("wasm-ld", "wasm-ld-19", "wasm-ld-14")
STACK = 1 << 20
"""Bytes of the stack."""


def write_wasm(model: Model, output: "str | os.PathLike[str]") -> list[Path]:
    """Link a model for the target "wasm32" into the module ``output``, and write its plan and
    weights beside it: ``mlp.wasm``, ``mlp.json`` and ``mlp_weights.bin``. Return their paths.

    Raises: IRKitError if the model is for another target, or there is no wasm-ld.
    """
    if not model.target.triple.startswith("wasm32"):
        found = model.target.triple or "C source"
        raise IRKitError(
            f"a module of WebAssembly is made of code for wasm32, found {found}",
            hint='Compile the model with target="wasm32".',
        )
    linker = next(filter(shutil.which, LINKERS), "")
    if not linker:
        raise IRKitError(
            f"a module of WebAssembly needs a linker, and none of {', '.join(LINKERS)} was found",
            hint="Install it: apt install lld.",
        )
    path = Path(output)
    exports = [f"--export={name}" for name in (ENTRY, *[SIZES] * bool(model.plan.dims))]
    images = [image for image in (*model.contents.objects, model.contents.pool) if image]
    with tempfile.TemporaryDirectory(prefix="irkit-") as folder:
        names = [f"part{number}.o" for number in range(len(images))]
        for name, image in zip(names, images, strict=True):
            (Path(folder) / name).write_bytes(image)
        options = ["--no-entry", "--allow-undefined", "--export=__heap_base", "--strip-all"]
        options += ["--gc-sections", "-z", f"stack-size={STACK}"]
        run_tool([linker, *options, *exports, "-o", "model.wasm", *names], folder)
        module = (Path(folder) / "model.wasm").read_bytes()
    files = {
        path: module,
        path.with_suffix(".json"): msgspec.json.encode(model.plan),
        path.with_name(f"{path.stem}_weights.bin"): bytes(model.contents.params),
    }
    for each, data in files.items():
        with atomic_write(each) as temporary:
            Path(temporary).write_bytes(data)
    return list(files)
