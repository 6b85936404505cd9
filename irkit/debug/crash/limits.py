"""Limits of what a crash folder holds, and of what is read from one."""

MAX_DESCRIPTION_BYTES = 1 << 22
"""Of the description; a larger one is refused."""

MAX_DATA_BYTES = 1 << 27
"""Of the trace, and of the inputs: more is left out, with the reason in the report."""

MAX_TEXT_BYTES = 1 << 23
"""Of a file of text; it is cut there."""

MAX_DIFF_LINES = 20_000
"""Of a text that is compared: a difference of more would take minutes."""

MAX_COPIES = 100
"""Folders of one name beside each other, before irkit gives up looking for a free one."""
