"""LLVM IR as text: modules of declarations and helpers, and functions of blocks."""

from collections.abc import Callable, Mapping

from irkit.codegen.llvm.builder.debug_info import DebugInfo
from irkit.codegen.llvm.builder.devices import LLVMDevice
from irkit.codegen.llvm.builder.types import suffix
from irkit.core import IRKitError, Target
from irkit.ir import PrimFunc, Stmt, Var
from irkit.ir.math import math_features

MAX_LINES = 2_000_000


class ModuleText:
    """Text that functions share: declarations and helper functions, each once.

    ``math`` tells what the target computes in one instruction. ``debug`` is set if instructions
    carry line numbers. ``meanings`` are the functions that stand for instructions which the target
    lacks, by their symbols. ``kernel`` is the function being written, ``clocks`` the size of its
    table of clocks, and ``wrapping`` is what :func:`wrapping_loops` returns for it.
    ``device`` is set if it is a kernel for threads of a device, and ``shared_end`` if its launch
    asks for shared memory: the bytes so far.
    """

    def __init__(self, target: Target, debug: DebugInfo | None = None) -> None:
        self.target = target
        self.math = math_features(target)
        self.debug = debug
        self.declared: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.functions: list[str] = []
        self.meanings: dict[str, PrimFunc] = {}
        self.kernel, self.clocks = "", 0
        self.wrapping: Mapping[Var, tuple[int, ...]] = {}
        self.device: LLVMDevice | None = None
        self.shared_end: int | None = None

    def declare(self, name: str, text: str) -> None:
        """Add a declaration under a name, once."""
        self.declared.setdefault(name, text)

    def helper(self, name: str, make: Callable[[], str]) -> str:
        """Define a helper function on first use and return its name."""
        if name not in self.helpers:
            self.helpers[name] = ""  # A helper can use other helpers, but not itself.
            self.helpers[name] = make()
        return name

    def has_feature(self, name: str) -> bool:
        return f"+{name}" in self.target.features

    def render(self) -> str:
        """Return the text of the module."""
        parts = [*self.declared.values(), *self.helpers.values(), *self.functions]
        return "\n".join(part for part in parts if part) + "\n"


class FunctionText:
    """Text of one function, written instruction by instruction.

    ``label`` is the current block; ``divides`` means that there was a division by an unknown
    integer.
    """

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.label = "entry"
        self.divides = False
        self._location = ""
        self._subprogram = 0
        self._count = 0

    @property
    def debug(self) -> str:
        """Return the debug annotation of the function header, if there is one."""
        return f" !dbg !{self._subprogram}" if self._subprogram else ""

    def locate(self, stmt: Stmt) -> None:
        """Set the line of the following instructions to that of a statement."""
        debug = self.module.debug
        if debug is not None and id(stmt) in debug.lines:
            self._subprogram = self._subprogram or debug.subprogram()
            self._location = debug.location(self._subprogram, debug.lines[id(stmt)])

    def name(self) -> str:
        self._count += 1
        if self._count > MAX_LINES:
            raise IRKitError(
                f"the generated code has more than {MAX_LINES} values",
                hint="Unroll less, or share work between the branches of conditionals.",
            )
        return f"%v{self._count}"

    def op(self, text: str) -> str:
        """Write an instruction with a result and return the name of the result."""
        name = self.name()
        self.lines.append(f"  {name} = {text}{self._location}")
        return name

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}{self._location}")

    def new_label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def start(self, label: str) -> None:
        """Begin a block; the previous one must have ended."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch(self, cond: str, then: str, otherwise: str, note: str = "") -> None:
        """Branch to one of two blocks; ``note`` is metadata of the branch."""
        self.line(f"br i1 {cond}, label %{then}, label %{otherwise}{note}")

    def alloca(self, text: str) -> str:
        """Reserve stack memory in the entry block, where LLVM can promote it to registers."""
        name, device = self.name(), self.module.device
        if device is None or device.stack == device.flat:
            self.entry.append(f"  {name} = alloca {text}")
            return name
        space = f" addrspace({device.stack})"
        self.entry.append(f"  {name} = alloca {text}, addrspace({device.stack})")
        made = self.name()
        self.entry.append(f"  {made} = addrspacecast ptr{space} {name} to ptr")
        return made

    def call(self, name: str, result: str, *args: tuple[str, str]) -> str:
        """Call a function by name; ``args`` are pairs of type and value."""
        given = ", ".join(f"{kind} {value}" for kind, value in args)
        return self.op(f"call {result} @{name}({given})")

    def intrinsic(self, name: str, kind: str, *values: str, more: str = "", flags: str = "") -> str:
        """Call an LLVM intrinsic whose arguments and result have the same type."""
        full = f"llvm.{name}.{suffix(kind)}"
        extra = [more] if more else []
        types = ", ".join([kind] * len(values) + [item.split(" ")[0] for item in extra])
        self.module.declare(full, f"declare {kind} @{full}({types})")
        given = ", ".join([f"{kind} {value}" for value in values] + extra)
        return self.op(f"call {flags}{kind} @{full}({given})")

    def body(self) -> str:
        """Return the text of all blocks."""
        return "\n".join(["entry:", *self.entry, *self.lines])
