"""Limits of what a model may ask for: models come from strangers."""

MAX_ELEMENTS = 1 << 32
"""Elements of a tensor: shapes of the file decide what is allocated."""

MAX_CONSTANT_BYTES = 1 << 29
"""Bytes of a constant that a node fills: more would take too long before a later error is found."""

MAX_RANK = 32
"""Dimensions of a tensor: supported by every version of NumPy."""

MAX_INPUTS = 512
"""Inputs of a node: passes take more than linear time in the number of operands."""

MAX_FIELDS = 200_000
"""Fields of a message that are looked at to find where it is damaged."""

MAX_NESTING = 100
"""Messages inside each other: the limit of Protobuf."""

MAX_FOLDED = 1 << 16
"""Elements of an array that is computed on import, since it may decide a shape."""

MAX_FUNCTION_DEPTH = 20
"""Functions that are expanded inside each other."""

MAX_EXPANDED = 20_000
"""Nodes of all functions and loops that are expanded: each level can multiply those inside."""

UNROLLED = 16
"""Iterations up to which a loop is unrolled even if it need not be."""

MAX_STEPS = 1000
"""Iterations of a loop that is unrolled."""

INT64_MAX = (1 << 63) - 1
"""The most iterations of a loop that does not say how many."""

GROWN = 4096
"""Places by which the state of a loop can grow along an axis, if the loop does not say how many
iterations it makes at most, or how much each adds."""

MAX_ELIMINATED = 64
"""Rows of a matrix of which the determinant is computed, row by row."""

MAX_ROOM = 1 << 24
"""Places that an output has along the axis whose size depends on data."""
