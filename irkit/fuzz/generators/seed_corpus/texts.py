"""The texts of the seed corpus by name, from the files of IR text beside this module.

A line ``#: NAME`` begins each text of a file; what follows the name is a comment.
"""

from importlib.resources import files


def _texts(name: str) -> dict[str, str]:
    whole = (files("irkit.fuzz.generators.seed_corpus") / f"{name}.irs").read_text("utf-8")
    parts = (part.partition("\n") for part in whole.split("\n#: ")[1:])
    return {head.partition(":")[0]: f"\n{text.rstrip()}\n" for head, _, text in parts}


THREADS = _texts("thread_kernels")
KERNELS = _texts("kernels") | THREADS
EDGE_CASES = _texts("edge_cases")
BLOCK_PROGRAMS = _texts("block_programs")
GRAPHS = _texts("graphs")
