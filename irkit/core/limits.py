"""Limits on numbers that code in several places must agree on."""

MOST_ELEMENTS = 1 << 47
"""Elements of the longest array: an address has 47 bits, so index arithmetic on extents and strides
does not wrap around in 64."""

FARTHEST = 1 << 40
"""An index beyond this is not a limit that a program has, only the width of a type."""

ALIGNMENT = 64
"""Alignment in bytes of the memory of a model: a cache line, and the widest vector."""

PRINT_WIDTH = 100
"""Characters of a printed signature; a longer one has a line for each parameter."""
