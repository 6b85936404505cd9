"""The kernels that backends compute: which they are, and their code as object files."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from irkit.codegen import ForeignKernel, ImportedFunction, symbol
from irkit.core import IRKitError, IRModule, Target, substitute
from irkit.graph import Apply, GraphFunc, Invoke, Lambda, Value
from irkit.ir import PrimFunc
from irkit.phases.backends.backend import Backend
from irkit.phases.backends.claims import BackendClaim, ForeignCode
from irkit.phases.backends.partition import BACKEND, COMPOSITE
from irkit.runtime import c_compiler, machine_flags, run_tool

_FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-fno-stack-protector", "-w")
_Place = tuple[str, str]


class ClaimedKernels:
    """Claims, as the graph had them before its operators became loops, and their code.

    ``imports`` are what the kernels asked for so far call.
    """

    def __init__(self, backends: Sequence[Backend], target: Target) -> None:
        self.backends = {backend.name: backend for backend in backends}
        self.target = target
        self.imports: dict[str, ImportedFunction] = {}
        self._claimed: dict[_Place, tuple[Lambda, GraphFunc]] = {}
        self._kernels: dict[str, tuple[Lambda, GraphFunc]] = {}

    def note(self, module: IRModule) -> None:
        """Remember the claims that a module has now, or which kernels they have become."""
        for func in module.functions.values() if self.backends else ():
            if isinstance(func, GraphFunc):
                self._note(func)

    def _note(self, func: GraphFunc) -> None:
        lambdas: dict[Value, Lambda] = {}
        for bind in func.body.bindings:
            place, step = (func.name, bind.var.name), bind.step
            if isinstance(step, Lambda) and dict(step.attrs).get(BACKEND) in self.backends:
                lambdas[bind.var] = step
            elif isinstance(step, Apply) and step.callee in lambdas:
                claimed = lambdas[step.callee]
                self._claimed[place] = claimed, _function(claimed, step.args)
            elif isinstance(step, Invoke) and place in self._claimed:
                self._kernels.setdefault(step.function, self._claimed[place])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the kernels that are claimed."""
        return tuple(self._kernels)

    def image(self, kernel: PrimFunc) -> bytes:
        """Return the object file of a kernel that a backend has claimed.

        Raises: IRKitError if the backend fails, or what it gives cannot be compiled.
        """
        given, claim, title = self._generated(kernel)
        return given.image or _compiled(given, claim, title)

    def source(self, kernel: PrimFunc) -> ForeignKernel:
        """Return the C source of a kernel that a backend has claimed.

        Raises: IRKitError if the backend fails, or gives an object file.
        """
        given, claim, title = self._generated(kernel)
        if given.image:
            raise IRKitError(
                f"{title} gave an object file; expected C source, of which the model is made",
                hint="Compile the model without the backend, or for native code.",
            )
        _check_source(given, claim, title)
        return ForeignKernel(claim.kernel, claim.symbol, given.c)

    def _generated(self, kernel: PrimFunc) -> tuple[ForeignCode, BackendClaim, str]:
        """Return what the backend of a kernel gives, what it was asked for, and both in words."""
        code, func = self._kernels[kernel.name]
        attrs = dict(code.attrs)
        backend = self.backends[str(attrs[BACKEND])]
        claim = BackendClaim(str(attrs[COMPOSITE]), func, kernel, self.target)
        try:
            given = backend.generate(claim)
        except IRKitError:
            raise
        except (
            Exception,
            SystemExit,
        ) as error:  # A user's code can raise anything.
            what = f"{type(error).__name__}: {error}"
            raise IRKitError(f"{_title(backend, claim)} failed: {what}") from error
        if not isinstance(given, ForeignCode):  # pyright: ignore[reportUnnecessaryIsInstance] -- users' code
            raise IRKitError(
                f"{_title(backend, claim)} gave {type(given).__name__}; expected ForeignCode"
            )
        for name, library in given.imports.items():
            wanted = ImportedFunction(name, library)
            if self.imports.setdefault(name, wanted) != wanted:
                raise IRKitError(
                    f"{_title(backend, claim)} takes {name!r} from {library!r}, but another claim "
                    f"takes it from {self.imports[name].library!r}"
                )
        return given, claim, _title(backend, claim)


def _title(backend: Backend, claim: BackendClaim) -> str:
    return f"backend {backend.name!r}, asked for {claim.rule!r} ({claim.kernel.name}),"


def _function(claimed: Lambda, args: Sequence[Value]) -> GraphFunc:
    """Return the operators of a claim as a function that takes each argument once, as its kernel
    does."""
    first: dict[Value, Value] = {}
    again: dict[Value, Value] = {}
    for param, arg in zip(claimed.params, args, strict=True):
        again[param] = first.setdefault(arg, param)
    return GraphFunc("claim", tuple(first.values()), substitute(claimed.body, again))


def _check_source(given: ForeignCode, claim: BackendClaim, title: str) -> None:
    if claim.symbol not in given.c:
        raise IRKitError(f"{title} gave C source without {claim.symbol!r}, the function to define")


def _compiled(given: ForeignCode, claim: BackendClaim, title: str) -> bytes:
    """Return the object file of C source, in which the function has the name of the kernel."""
    _check_source(given, claim, title)
    named = f'{claim.declaration} __asm__("{symbol(claim.kernel.name)}");'
    source = f"#include <stdint.h>\n{named}\n#line 1\n{given.c}\n"
    with tempfile.TemporaryDirectory(prefix="irkit-") as folder:
        (Path(folder) / "claim.c").write_text(source)
        command = [*c_compiler(), *_FLAGS, *machine_flags(claim.target), "-c", "claim.c"]
        try:
            run_tool([*command, "-o", "claim.o"], folder)
        except IRKitError as error:
            raise IRKitError(f"{title} gave C source that does not compile: {error}") from None
        return (Path(folder) / "claim.o").read_bytes()
