"""Limits of what a schedule may ask for: above them a primitive or a check refuses."""

MOST_POINTS = 1 << 20
"""Points of an iteration space that are counted one by one, in arrays of this size."""

MOST_FACTOR = 1 << 20
"""Alignment factor or prefetch distance: larger ones are refused."""

MOST_DIVISORS = 1 << 20
"""Divisors that are tried for a random tiling: the square root of the largest extent."""

MOST_PERMUTED = 1 << 22
"""Elements of a buffer whose new places are compared one by one."""

MOST_CHECK_STEPS = 20_000_000
"""Steps of the interpreter when a schedule is checked by running it: some seconds."""

MOST_CHECK_ELEMENTS = 1 << 24
"""Elements of an argument in such a check."""

MOST_MAP_TEXT = 10_000
"""Characters of an index map in a file: it is parsed as Python."""

MOST_FILE_BYTES = 1 << 26
"""Bytes of a schedule file."""
