"""Compiled functions of the loop IR: a kernel is a callable, a module holds kernels."""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from irkit.codegen import (
    BAD_ARGUMENT,
    ENTER,
    assembly,
    clock_count,
    clocks_symbol,
    complete_target,
    emit,
    emit_c,
    emit_pool,
    emit_stubs,
    is_foreign,
    record_size,
    runnable_target,
    stub_symbol,
    symbol,
)
from irkit.core import IRKitError, Target
from irkit.ir import Buffer, PrimFunc, Var, listing
from irkit.runtime.cache import object_for
from irkit.runtime.call import as_arrays, as_scalar, check_count, fail
from irkit.runtime.jit import Library
from irkit.runtime.pool import link
from irkit.runtime.profiles.clocks import LoopClocks

Source = Literal["llvm", "asm", "c", "opencl", "cuda", "ptx", "amdgpu", "spirv", "host"]


class Kernel:
    """A compiled function; call it with NumPy arrays and numbers in the order of the parameters.

    The GIL is released while it runs. It keeps its library loaded. A kernel for another machine, or
    of C source, has no library: it cannot be called, and gives ``source`` and ``object_files``.
    """

    def __init__(self, func: PrimFunc, target: Target, library: Library | None) -> None:
        self.func = func
        self.name = func.name
        self.target = target
        self.library = library
        self._count = len(func.params)
        self._scalars = [place for place, p in enumerate(func.params) if isinstance(p, Var)]
        self._record_size = record_size(func)
        self._stub: Any = self._refuse if library is None else self._linked(library)

    def _linked(self, library: Library) -> Any:
        kinds = [_argument_type(param) for param in self.func.params]
        kinds += [ctypes.c_void_p] * (self._record_size > 0)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)
        return prototype(library.address(stub_symbol(self.name)))

    def _refuse(self, *args: object) -> int:
        if self.target.kind == "c":
            what, hint = (
                "is C source",
                "kernel.source() is the text; its first lines say how to build it.",
            )
        else:
            what = f"is code for {self.target.triple}"
            hint = "kernel.object_files() are for a linker of that machine."
        raise IRKitError(f"kernel {self.name!r} {what}, which this process cannot run", hint=hint)

    def __call__(self, *args: Any) -> None:
        """Run the kernel. Arrays that the function writes are changed in place; tensors of other
        libraries are taken through DLPack.

        Raises: DTypeError or ShapeError if an argument is not as declared; IRKitError if an
        assertion fails. Arguments are checked before anything is read or written.
        """
        if len(args) != self._count:
            check_count(self.func, args)
        given: Sequence[Any] = args
        if self._scalars:
            given = list(args)
            for place in self._scalars:
                given[place] = as_scalar(self.func, place, args[place])
        # A record for each call: calls can run at the same time.
        record = ((ctypes.c_int64 * self._record_size)(),) if self._record_size else ()
        status = self._stub(*given, *record)
        if status <= BAD_ARGUMENT:
            shown = as_arrays(self.func, given)
            if shown:
                status = self._stub(*[shown.get(at, arg) for at, arg in enumerate(given)], *record)
                # The message about a mapped file says how to map it.
                args = tuple(
                    arg if type(arg) is np.memmap else shown.get(at, arg)
                    for at, arg in enumerate(args)
                )
        if status:
            fail(self.func, status, args, tuple(record[0]) if record else ())

    @property
    def address(self) -> int:
        """Return the address of the kernel itself, which takes pointers and checks nothing."""
        return self._refuse() if self.library is None else self.library.address(symbol(self.name))

    @property
    def clocks(self) -> LoopClocks:
        """Return the clocks of the loops of the kernel (see the pass ``time_loops``).

        Raises: IRKitError if it has none.
        """
        count = clock_count(self.func)
        if not count:
            raise IRKitError(
                f"kernel {self.name!r} has no clocks", hint="Run the pass time-loops last."
            )
        if self.library is None:
            self._refuse()
        assert self.library is not None
        return LoopClocks(self.library, self.library.address(clocks_symbol(self.name)), count)

    def source(self, kind: Source | None = None, *, lines: bool = False) -> str:
        """Return the LLVM IR, the assembly or the C source of the kernel; by default that of its
        target's kind.

        With ``lines``, C source has ``#line`` for the text of the IR, ``name.irs``.
        """
        chosen = kind or ("c" if self.target.kind == "c" else "llvm")
        if chosen == "c":
            starts = dict[int, int]()
            if lines:
                starts = listing(self.func).starts
            return emit_c(
                [self.func],
                self.target,
                lines=starts if lines else None,
                ir_file=f"{self.name}.irs",
                file=f"{self.name}.c",
            )
        if chosen not in ("llvm", "asm"):
            raise IRKitError(f"no source of kind {kind!r}; expected 'llvm', 'asm' or 'c'")
        target = self.target if self.target.triple else complete_target(Target())
        text = emit([self.func], target)
        return text if chosen == "llvm" else assembly(text, target)

    def object_files(self) -> list[bytes]:
        """Return the object file of the kernel for its target, and that of the pool of threads if
        it has parallel loops: what a linker needs beside the C library.

        Raises: IRKitError if the target is C source.
        """
        if self.target.kind == "c":
            self._refuse()
        text = emit([self.func], self.target)
        made = [object_for(text, self.target)]
        if f"@{ENTER}(" in text:
            made.append(object_for(emit_pool(self.target), self.target))
        return made

    def __repr__(self) -> str:
        return f"<Kernel {self.name} for {self.target.cpu or self.target.kind}>"


def _argument_type(param: Buffer | Var) -> Any:
    if isinstance(param, Buffer):
        return ctypes.py_object
    return ctypes.c_double if param.dtype.is_float else ctypes.c_int64


class Module:
    """Kernels by name. A module with a single kernel is itself callable."""

    def __init__(self, kernels: Mapping[str, Kernel]) -> None:
        self.kernels = dict(kernels)

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self.kernels[name]
        except KeyError:
            known = ", ".join(self.kernels) or "none"
            raise IRKitError(f"the module has no kernel {name!r}; it has: {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __call__(self, *args: Any) -> None:
        """Call the only kernel."""
        if len(self.kernels) != 1:
            names = ", ".join(self.kernels)
            raise IRKitError(f"the module has {len(self)} kernels ({names}): select one by name")
        next(iter(self.kernels.values()))(*args)

    def source(self, kind: Source | None = None) -> str:
        """Return the source of every kernel, in order."""
        return "\n".join(kernel.source(kind) for kernel in self.kernels.values())


def compile_functions(funcs: Mapping[str, PrimFunc], target: Target) -> Module:
    """Compile lowered functions to native code in this process, by name.

    If functions share a name, their keys become their names. Kernels of C source, and for another
    architecture, have no native code. Raises: IRKitError if a function cannot be expressed, or this
    machine lacks a feature of the target.
    """
    unique = len({func.name for func in funcs.values()}) == len(funcs)
    named = [func if unique else func.replace(name=key) for key, func in funcs.items()]
    return Module(dict(zip(funcs, build_kernels(named, target), strict=True)))


def build_kernels(funcs: Sequence[PrimFunc], target: Target) -> list[Kernel]:
    """Compile functions into one library and return a kernel for each; of C source, and for another
    architecture, those have no library."""
    if target.device is not None:
        raise IRKitError(
            f"kernels for {target.kind} are built by irkit.build, from loops bound to threads"
        )
    if target.kind == "c":
        return [Kernel(func, target, None) for func in funcs]
    if is_foreign(target):
        completed = complete_target(target)
        return [Kernel(func, completed, None) for func in funcs]
    whole = runnable_target(target)
    quick = msgspec.structs.replace(whole, opt_level=0)
    # One module for each, so that the others stay in the cache when one function changes.
    images = [object_for(emit([func], whole), whole) for func in funcs]
    images.append(object_for(emit_stubs(funcs, whole), quick))
    names = [name for func in funcs for name in (symbol(func.name), stub_symbol(func.name))]
    names += [clocks_symbol(func.name) for func in funcs if clock_count(func)]
    library = link(images, names)
    return [Kernel(func, whole, library) for func in funcs]
