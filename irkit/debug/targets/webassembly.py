"""WebAssembly: object files linked by wasm-ld, and run by wasmtime in a child process."""

import importlib
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from irkit.core import IRKitError
from irkit.debug.targets.call_image import ALIGN, ArrayPlace, CallImage, call_image
from irkit.debug.targets.executor import TargetCall, TargetExecutor, TargetOutcome, refusing
from irkit.processes import Child, ChildDied, Limits
from irkit.runtime import compile_functions

_PAGE = 1 << 16
_HEAP = 16 << 20
_STACK = 1 << 20
_SECONDS = 120.0


def wasm_linker() -> str:
    """Return the command of the linker, or an empty text."""
    names = ("wasm-ld", *(f"wasm-ld-{number}" for number in range(22, 13, -1)))
    return next((name for name in names if shutil.which(name)), "")


class WasmExecutor(TargetExecutor):
    """Functions as one module of WebAssembly."""

    @property
    def how(self) -> str:
        """What runs the code, for people."""
        return "LLVM's code, run by wasmtime"

    @property
    def missing(self) -> str:
        """What is not installed and where it comes from; empty if nothing is missing."""
        away = [] if wasm_linker() else ["wasm-ld is not installed: apt install lld"]
        if importlib.util.find_spec("wasmtime") is None:
            away.append("wasmtime is not installed: pip install wasmtime")
        return "; ".join(away)

    def run_all(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls of functions with different names.

        Raises: IRKitError if they cannot be built.
        """
        funcs = {func.name: func for func, _ in calls}
        images = [call_image(func, args) for func, args in calls]
        largest = max(len(image.memory) for image in images) + _HEAP + 2 * _STACK
        pages = -(-largest // _PAGE)
        with refusing():
            module = compile_functions(funcs, self.target)
        files = sorted({data for k in module.kernels.values() for data in k.object_files()})
        with tempfile.TemporaryDirectory(prefix="irkit-targets-") as folder:
            code = _linked(files, list(funcs), pages, Path(folder))
        outcomes = list[TargetOutcome]()
        with Child(Limits(_SECONDS)) as child:
            for (func, _), image in zip(calls, images, strict=True):
                outcomes.append(_outcome(child, code, func.name, image))
        return outcomes


def _linked(files: Sequence[bytes], names: Sequence[str], pages: int, folder: Path) -> bytes:
    parts = [f"part{number}.o" for number in range(len(files))]
    for part, data in zip(parts, files, strict=True):
        (folder / part).write_bytes(data)
    options = ["--no-entry", "--allow-undefined", "-z", f"stack-size={_STACK}"]
    options += [f"--export={name}" for name in (*names, "__heap_base")]
    command = [wasm_linker(), *options, f"--initial-memory={pages * _PAGE}", "-o", "out", *parts]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise IRKitError(f"wasm-ld failed:\n{done.stderr[:2000]}")
    return (folder / "out").read_bytes()


def _outcome(child: Child, code: bytes, name: str, image: CallImage) -> TargetOutcome:
    given = list[tuple[str, Any]]()
    for each in image.arguments:
        if isinstance(each, ArrayPlace):
            given.append(("at", each.offset))
        else:
            given.append(("number", _number(each)))
    try:
        memory, status, trap = child.call(run_wasm, code, name, image.memory, given)
        if trap:
            return TargetOutcome("failed", message=trap)
        arrays = image.arrays(memory)
    except ChildDied as error:
        return TargetOutcome("failed", message=f"its process {error.message}")
    except IRKitError as error:
        return TargetOutcome("failed", message=str(error))
    if status:
        what = "it has no memory" if status < 0 else f"its assertion {status} does not hold"
        return TargetOutcome("stopped", arrays, what)
    return TargetOutcome("ran", arrays)


def _number(value: Any) -> int | float:
    """Return a number as WebAssembly takes it: a 16-bit float as its bits, integers as signed."""
    if value is None or isinstance(value, int):
        return value or 0
    number = np.asarray(value)
    if number.dtype.kind == "f" and number.dtype.itemsize > 2:
        return float(number)
    if number.dtype.itemsize == 2 and number.dtype.kind not in "iu":
        return int(number.view("u2"))
    if number.dtype.itemsize >= 4:
        return int(number.view(f"i{number.dtype.itemsize}"))
    return int(number)


class _Machine:
    """The module that this process has compiled last."""

    def __init__(self) -> None:
        self.code = b""
        self.store: Any = None
        self.exports: Any = None
        self.top = 0


_MACHINE = _Machine()


def run_wasm(
    code: bytes, name: str, image: bytes, given: list[tuple[str, Any]]
) -> tuple[bytes, int, str]:
    """Call a function of a module on memory, and return the memory, the status, and the message of
    a trap; the child calls this."""
    w: Any = importlib.import_module("wasmtime")  # It is no dependency, so checkers may lack it.
    if code != _MACHINE.code:
        _load(w, code)
    store, exports = _MACHINE.store, _MACHINE.exports
    memory = exports["memory"]
    _MACHINE.top = memory.data_len(store)
    base = -(-exports["__heap_base"].value(store) // ALIGN) * ALIGN
    memory.write(store, image, base)
    args = [base + value if kind == "at" else value for kind, value in given]
    try:
        status = exports[name](store, *args)
    except (w.Trap, w.WasmtimeError) as error:
        return b"", 0, str(error).splitlines()[-1].strip()
    return bytes(memory.read(store, base, base + len(image))), status, ""


def _load(w: Any, code: bytes) -> None:
    """Compile a module, whose host has an allocator that never frees within a call."""
    store = w.Store(w.Engine())
    module, linker = w.Module(store.engine, code), w.Linker(store.engine)

    def allocate(align: int, size: int) -> int:
        _MACHINE.top = (_MACHINE.top - size) // max(align, 1) * max(align, 1)
        return _MACHINE.top

    def copy(to: int, source: int, size: int) -> int:
        memory.write(store, bytes(memory.read(store, source, source + size)), to)
        return to

    def fill(to: int, byte: int, size: int) -> int:
        memory.write(store, bytes([byte & 255]) * size, to)
        return to

    def multiply(to: int, a: int, a_high: int, b: int, b_high: int) -> None:
        """Multiply integers of 128 bits, given as signed halves of 64."""
        one, two = (low % 2**64 + (high << 64) for low, high in ((a, a_high), (b, b_high)))
        memory.write(store, (one * two % 2**128).to_bytes(16, "little"), to)

    host: dict[str, Callable[..., Any]] = {
        "aligned_alloc": allocate, "free": _keep, "memcpy": copy, "memmove": copy,
        "memset": fill, "__multi3": multiply,
    }  # fmt: skip
    for wanted in module.imports:
        if wanted.name not in host:
            raise IRKitError(f"the module needs {wanted.name!r}, which its host does not give")
        linker.define(store, "env", wanted.name, w.Func(store, wanted.type, host[wanted.name]))
    exports = linker.instantiate(store, module).exports(store)
    memory = exports["memory"]
    _MACHINE.code, _MACHINE.store, _MACHINE.exports = code, store, exports


def _keep(at: int) -> None:
    """Free nothing: the allocator starts anew with each call."""
