"""How deep the programs are with which tests show that nothing overflows."""

import sys

DEEP = 100_000
DEEP_EXPRESSION = DEEP if sys.version_info < (3, 14) else 10_000
"""On Python 3.14 msgspec frees nested structs without garbage collection by recursion in C."""
