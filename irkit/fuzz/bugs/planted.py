"""What a planted bug is, and how it gets into the source."""

import msgspec

from irkit.core import IRKitError


class Planted(msgspec.Struct, frozen=True):
    """A small change to a module that ships, and what should become of it.

    ``anchor`` is a part of the source of ``module`` that occurs there once. ``guilty`` are the
    passes that may be named: the one that is changed, or those of the fixed programs that use what
    is changed; where it is in none, the tiers that may see it first. ``case`` is the program that
    shows it, or empty where no fixed one does.
    """

    name: str
    module: str
    anchor: str
    replacement: str
    guilty: tuple[str, ...]
    case: str

    def planted_in(self, source: str) -> str:
        """Put the bug into source. Raises: IRKitError if the anchor is not there exactly once."""
        count = source.count(self.anchor)
        if count != 1:
            raise IRKitError(
                f"planted bug {self.name!r}: its anchor occurs {count} times in {self.module}, "
                f"expected once: {self.anchor!r}"
            )
        return source.replace(self.anchor, self.replacement)

    def line_in(self, source: str) -> int:
        """Find the first line that the bug changes."""
        pairs = zip(self.anchor, self.replacement, strict=False)
        alike = next((at for at, (a, b) in enumerate(pairs) if a != b), len(self.replacement))
        return source[: source.index(self.anchor) + alike].count("\n") + 1
