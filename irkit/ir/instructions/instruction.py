"""An instruction of a processor, as data: what it computes, its code, and what it needs."""

import re
from keyword import iskeyword
from typing import cast

import msgspec

from irkit.core import DTypeError, IRKitError, any_node
from irkit.ir.buffer import Buffer
from irkit.ir.build import as_int
from irkit.ir.dtype import DType
from irkit.ir.expr import Expr
from irkit.ir.function import PrimFunc
from irkit.ir.intrinsics import INTRINSICS, InstructionCall
from irkit.ir.scopes import scope_problem
from irkit.ir.stmt import Assert

_NAME = re.compile(r"[a-z][a-z0-9_]*_[a-z0-9_]*\Z")
_OPERAND = re.compile(r"\{(\w+)\}")


class Instruction(msgspec.Struct, frozen=True, eq=False):
    """An instruction of a processor: a function of vectors that touches no memory.

    ``meaning`` is a loop function over one buffer of one dimension for each operand and, as its
    last parameter, one for the result, which it writes completely. The interpreter runs it, and so
    does native code on a processor that lacks the instruction. An operand of one element is a
    scalar.

    ``llvm`` is the code: lines of LLVM IR. A line ``x = ...`` names a value, the last line is the
    result, and ``{x}`` stands for a value or an operand. Operands and result have the types of
    memory: ``i8`` for i8, u8 and bool, ``i16`` for f16 and bf16. Intrinsics that it calls are
    declared from their calls.

    ``arch`` is the first part of the target's triple, empty for any, and ``features`` are the names
    of LLVM features, all of which the processor must have; of ``avxvnni|avx512vnni``, one of the
    two.

    ``c`` is the code for a C compiler, if there is any: statements that read operands and write the
    result through pointers to their elements, ``{x}``; lines that begin with ``#`` stand before the
    function. LLVM's code is not made of it.

    ``threads`` execute it together, those of a warp: each of them holds an equal part of the lanes
    of each operand and of the result, the first of them the first part. ``llvm`` and ``c`` are then
    what one of them does with its parts. Sums may be in any order and precision of the device,
    within the bound of docs/legal-changes.md.

    ``scopes`` are the memory scopes that it wants its operands to be loaded from and its result to
    be stored in, one name for each parameter of the meaning, with an empty one for any; without
    them, all may be anywhere.
    """

    name: str
    meaning: PrimFunc
    llvm: str
    arch: str
    features: tuple[str, ...] = ()
    c: str = ""
    scopes: tuple[str, ...] = ()
    threads: int = 1

    def __post_init__(self) -> None:
        reason = self._problem()
        if reason:
            raise IRKitError(f"{self.name!r} is not an instruction: {reason}")

    @property
    def operands(self) -> tuple[Buffer, ...]:
        return cast(tuple[Buffer, ...], self.meaning.params[:-1])

    @property
    def types(self) -> tuple[DType, ...]:
        """Return the types of the operands."""
        return tuple(_vector(operand) for operand in self.operands)

    @property
    def dtype(self) -> DType:
        """Return the type of the result."""
        return _vector(cast(Buffer, self.meaning.params[-1]))

    def is_native(self, triple: str, features: tuple[str, ...]) -> bool:
        """Return True if a target has the instruction; its features have a sign, as LLVM's have."""
        return self.arch in ("", triple.split("-")[0]) and all(
            any(f"+{name}" in features for name in each.split("|")) for each in self.features
        )

    def __call__(self, *args: Expr) -> Expr:
        """Return a call of the instruction.

        Raises: DTypeError if the arguments are not of its types.
        """
        problem = self.argument_problem(args)
        if problem is not None:
            raise DTypeError(problem)
        return InstructionCall(self.name, args, self.dtype)

    def argument_problem(self, args: tuple[Expr, ...]) -> str | None:
        """Return what is wrong with the arguments of a call, or None."""
        if len(args) != len(self.types):
            return f"{self.name} takes {len(self.types)} arguments, found {len(args)}"
        for operand, wanted, arg in zip(self.operands, self.types, args, strict=True):
            if arg.dtype != wanted:
                return f"{operand.name!r} of {self.name} has type {arg.dtype}; expected {wanted}"
        return None

    def _problem(self) -> str:
        if not _NAME.match(self.name) or iskeyword(self.name) or self.name in INTRINSICS:
            return "its name must be lower case with an underscore, and no function's"
        params = self.meaning.params
        if len(params) < 2:
            return "its meaning needs parameters for an operand and the result"
        for param in params:
            if not isinstance(param, Buffer) or param.rank != 1 or param.strides is not None:
                return f"parameter {param.name!r} of its meaning is not a buffer of one dimension"
            extent = as_int(param.shape[0])
            if extent is None or not param.dtype.with_lanes(max(extent, 0)).is_known():
                return f"parameter {param.name!r} of its meaning has no constant number of lanes"
        if any_node(self.meaning, (InstructionCall, Assert)):
            return "its meaning calls an instruction, or can fail"
        if self.dtype.lanes < 2:
            return "its result must be a vector"
        if self.threads < 1 or any(
            dtype.lanes % self.threads for dtype in (*self.types, self.dtype)
        ):
            return f"its lanes cannot be divided among {self.threads} threads"
        if self.scopes and len(self.scopes) != len(params):
            return f"it has {len(self.scopes)} memory scopes for {len(params)} parameters"
        for problem in map(scope_problem, filter(None, self.scopes)):
            if problem is not None:
                return ". ".join(problem)
        known = {param.name for param in params[:-1]}
        for line in self.llvm.strip().splitlines():
            named, _, text = line.strip().rpartition(" = ")
            for used in _OPERAND.findall(text):
                if used not in known:
                    return f"its code uses {used!r}, which is neither an operand nor a value"
            known.add(named)
        return self._c_problem() if self.llvm.strip() else "it has no code"

    def _c_problem(self) -> str:
        names, used = [param.name for param in self.meaning.params], _OPERAND.findall(self.c)
        for name in used:
            if name not in names:
                return f"its C code uses {name!r}, which is neither an operand nor the result"
        if self.c.strip() and names[-1] not in used:
            return f"its C code does not write {names[-1]!r}"
        return ""


def _vector(param: Buffer) -> DType:
    return param.dtype.with_lanes(as_int(param.shape[0]) or 0)
