"""State of the function being written: places of variables and buffers, values computed so far."""

from collections.abc import Callable, Mapping
from typing import Any, Union

import msgspec

from irkit.codegen.alignment import Alignment
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import value_type
from irkit.core import IRKitError
from irkit.ir import Buffer, Expr, Var

Extent = Union[int, str]


class BufferPlace(msgspec.Struct, frozen=True):
    """Place of a buffer: a pointer and strides.

    Strides are in elements, either constant (int) or computed (the name of an i64).
    """

    pointer: str
    strides: tuple[Extent, ...]


class FunctionScope:
    """Values in reach while a function is written.

    ``memo`` lasts for one statement: a store may change what was loaded. ``bits`` holds loaded
    16-bit floats as they are in memory, for as long as ``memo`` has their values, and
    ``variable_bits`` those of variables. Entries made inside a branch are removed at its end, since
    they do not exist on the other path. ``expanded`` keeps alive what the memo knows by its id.
    ``deferred`` are vectors made of scalars in the memo,
    written when their lanes are needed: the address of contiguous elements needs the first lane
    only. ``mask`` is the condition of the vector conditional whose side is being evaluated;
    ``failures`` numbers the assertions; ``heap`` lists slots whose memory is freed at the end;
    ``allocations`` are the conditions for the sizes of buffers, by their ``id``.

    The body of a parallel loop is its own function, and ``outer`` is the scope around it: what is
    found there becomes a parameter (``captured``: type and name, by the name outside). ``limits``
    holds the constant bounds of loop variables, by their names: inside, LLVM sees no loop that
    would tell that an index does not overflow. ``offsets`` records where a pointer into a buffer
    comes from, so that only pointers to whole buffers, which do not alias, become parameters.
    """

    def __init__(self, text: FunctionText, outer: "FunctionScope | None" = None) -> None:
        self.text = text
        self.outer = outer
        self.captured: dict[str, tuple[str, str]] = {}
        self.limits: dict[str, tuple[int, int]] = {}
        self.offsets: dict[str, tuple[str, str, str]] = {}
        self.noalias = True
        self.threads = True
        self.values: dict[int, str] = {}
        self.places: dict[int, BufferPlace] = {}
        self.memo: dict[int, str] = {}
        self.bits: dict[int, str] = {}
        self.variable_bits: dict[int, str] = {}
        self.deferred: dict[int, Callable[[FunctionScope, Any], str]] = {}
        self.log: list[int] = []
        self.expanded: list[Expr] = []
        self.loading: set[int] = set()
        self.mask: tuple[str, int] | None = None
        self.flags = "contract"
        self.failures: dict[int, int] = {}
        self.heap: list[str] = []
        self.allocations: Mapping[int, Expr] = {} if outer is None else outer.allocations
        self.stack_bytes = 0
        self.leaves_early = False
        self.depth = 0
        self.deepest = 0
        self.alignment: Alignment | None = None  # In a kernel of a device.

    def begin_statement(self) -> None:
        """Forget the values of the previous statement."""
        self.memo.clear()
        self.bits.clear()
        self.deferred.clear()
        self.log.clear()
        self.expanded.clear()
        self.loading.clear()

    def keep(self, expr: Expr, value: str) -> None:
        """Record the value of an expression for the rest of this statement or branch."""
        self.memo[id(expr)] = value
        self.log.append(id(expr))

    def forget_since(self, mark: int) -> None:
        """Remove every entry recorded after the log was ``mark`` long."""
        for key in self.log[mark:]:
            del self.memo[key]
        del self.log[mark:]

    def of(self, expr: Expr) -> str:
        """Return the value of an expression that is evaluated already, or deferred."""
        value = self.memo.get(id(expr))
        if value is None:
            value = self.deferred[id(expr)](self, expr)
            self.keep(expr, value)
        return value

    def variable(self, var: Var) -> str:
        value = self.values.get(id(var))
        if value is not None:
            return value
        if self.outer is None:
            raise IRKitError(f"variable {var.name!r} is not bound where it is used")
        value = self._capture(self.outer.variable(var), value_type(var.dtype))
        self.values[id(var)] = value
        return value

    def place(self, buffer: Buffer) -> BufferPlace:
        place = self.places.get(id(buffer))
        if place is not None:
            return place
        if self.outer is None:
            raise IRKitError(f"buffer {buffer.name!r} is not defined where it is used")
        outside = self.outer.place(buffer)
        steps = tuple(
            self._capture(step, "i64") if isinstance(step, str) else step
            for step in outside.strides
        )
        place = BufferPlace(self._capture_pointer(outside.pointer), steps)
        self.places[id(buffer)] = place
        return place

    def is_outside(self, buffer: Buffer) -> bool:
        """Return True if a buffer belongs to the function around this body of a parallel loop."""
        around = self.outer
        while around is not None:
            if id(buffer) in around.places:
                return True
            around = around.outer
        return False

    def _capture(self, value: str, kind: str) -> str:
        """Make a value of the outer function a parameter of this one; constants stay."""
        if not value.startswith("%"):
            return value
        if value not in self.captured:
            self.captured[value] = kind, f"%outer{len(self.captured)}"
        return self.captured[value][1]

    def _capture_pointer(self, pointer: str) -> str:
        """Capture the buffer that a pointer points into, and compute the pointer again."""
        assert self.outer is not None
        path = list[tuple[str, str]]()
        while pointer in self.outer.offsets:
            pointer, element, offset = self.outer.offsets[pointer]
            path.append((element, offset))
        inside = self._capture(pointer, "ptr")
        for element, outside in reversed(path):
            offset, name = self._capture(outside, "i64"), self.text.name()
            line = f"  {name} = getelementptr {element}, ptr {inside}, i64 {offset}"
            self.text.entry.append(line)  # The entry block dominates all others.
            inside = name
        return inside
