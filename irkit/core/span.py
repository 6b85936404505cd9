"""Where a line of IR came from. A span never takes part in any equality."""

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
