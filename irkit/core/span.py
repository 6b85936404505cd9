"""Where the user wrote something: the first line outside irkit on the call stack."""

import sys

import msgspec


class Span(msgspec.Struct, frozen=True, gc=False):
    """Name the origin of a statement, buffer, function or graph node.

    ``kind`` is one of ``onnx``, ``graph``, ``te``, ``schedule``, ``text``, ``python``; ``name`` is
    the ONNX node, stage or primitive; ``file``,
    ``line`` and ``column`` (both from 1, 0 if unknown) locate source text; ``parent`` is where that
    in turn came from.
    """

    kind: str
    name: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    parent: "Span | None" = None

    def __str__(self) -> str:
        place = ":".join(
            [self.file or "<text>", *(str(at) for at in (self.line, self.column) if at)]
        )
        if self.kind == "text":
            return place
        return f"{self.kind} {self.name}" + (f" ({place})" if self.file else "")

    def chain(self) -> "tuple[Span, ...]":
        """List this span and its parents, nearest first."""
        found: list[Span] = []
        at: Span | None = self
        while at is not None:
            found.append(at)
            at = at.parent
        return tuple(found)


def user_span(name: str = "", kind: str = "te") -> Span:
    """Name the line of the user's call; the file is empty if every caller is irkit's own."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- inspect.stack reads source files: 1,000 times slower
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not (isinstance(module, str) and module.startswith("irkit.")):
            return Span(kind, name, frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return Span(kind, name)
