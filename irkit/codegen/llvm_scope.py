"""What is known while one function is written: where variables and buffers are, and which values
have been computed."""

from typing import Union

import msgspec

from irkit.codegen.llvm_text import FunctionText
from irkit.core import IRKitError
from irkit.ir import Buffer, Expr, Var

Extent = Union[int, str]


class Place(msgspec.Struct, frozen=True):
    """Where a buffer is: a pointer, and the distance in elements along each dimension, known (int)
    or computed (the name of an i64)."""

    pointer: str
    strides: tuple[Extent, ...]


class Scope:
    """Hold the values in reach. ``memo`` is for one statement: a store may change what was loaded.

    Entries made inside a branch are taken back at its end: they do not exist on the other path.
    ``mask`` is the condition of a vector conditional whose side is being evaluated; ``failures``
    numbers the assertions; ``heap`` lists slots whose memory is freed at the end.
    """

    def __init__(self, text: FunctionText) -> None:
        self.text = text
        self.values: dict[int, str] = {}
        self.places: dict[int, Place] = {}
        self.memo: dict[int, str] = {}
        self.log: list[int] = []
        self.loading: set[int] = set()
        self.mask: tuple[str, int] | None = None
        self.flags = "contract"
        self.failures: dict[int, int] = {}
        self.heap: list[str] = []
        self.stack_bytes = 0
        self.leaves_early = False
        self.depth = 0
        self.deepest = 0

    def begin_statement(self) -> None:
        """Forget what the last statement computed."""
        self.memo.clear()
        self.log.clear()
        self.loading.clear()

    def keep(self, expr: Expr, value: str) -> None:
        """Note the value of an expression, for the rest of this statement or branch."""
        self.memo[id(expr)] = value
        self.log.append(id(expr))

    def forget_since(self, mark: int) -> None:
        """Take back every note made after the log was ``mark`` long."""
        for key in self.log[mark:]:
            del self.memo[key]
        del self.log[mark:]

    def of(self, expr: Expr) -> str:
        """Give the value of an expression evaluated already."""
        return self.memo[id(expr)]

    def variable(self, var: Var) -> str:
        value = self.values.get(id(var))
        if value is None:
            raise IRKitError(f"variable {var.name!r} is used where nothing binds it")
        return value

    def place(self, buffer: Buffer) -> Place:
        place = self.places.get(id(buffer))
        if place is None:
            raise IRKitError(f"buffer {buffer.name!r} is used where nothing makes it")
        return place
