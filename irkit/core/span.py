"""Source locations: of IR text, and of the user's call, the first frame outside irkit."""

import sys

import msgspec


class Span(msgspec.Struct, frozen=True, gc=False):
    """Origin of a statement, buffer, function or graph node.

    ``kind`` is one of ``onnx``, ``graph``, ``te``, ``schedule``, ``text``, ``python``, ``torch``;
    ``name`` is the ONNX node, stage or primitive; ``file``, ``line`` and ``column`` (from 1, or 0
    if unknown) locate source text; ``parent`` is the origin of that origin.
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
        """Return this span and its parents, nearest first."""
        found: list[Span] = []
        at: Span | None = self
        while at is not None:
            found.append(at)
            at = at.parent
        return tuple(found)


_NO_USER = ("irkit.cli.", "irkit.processes.")
"""What calls irkit for the command, or in a child: what calls that is nobody's program."""


def user_span(name: str = "", kind: str = "te") -> Span:
    """Return the span of the user's call; the file is empty if every caller is in irkit."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] -- inspect.stack reads source files: 1,000 times slower
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if isinstance(module, str) and module.startswith(_NO_USER):
            break
        if not (isinstance(module, str) and module.startswith("irkit.")):
            return Span(kind, name, frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return Span(kind, name)
