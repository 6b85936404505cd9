"""One attempt of the reduction: exit code 1 if a program is wrong, 0 if not, 2 if it is refused.

With ``--emit`` it prints LLVM IR after the passes, with ``--before`` too the IR that irkit emits;
options of LLVM come before both.
"""

import json
import sys

from irkit.codegen import complete_target, emit, llvm_binding, optimise
from irkit.core import as_target
from tests.llvm_campaign.batches import TARGETS, case_of, run_cases, shipped


def main(arguments: list[str]) -> int:
    """Run or emit the program of standard input on a processor."""
    name, *options = arguments
    seed, text = json.load(sys.stdin)
    case = case_of(seed, text)
    if case is None:
        return 2
    target = complete_target(as_target(TARGETS[name]))
    for option in options:
        if option.startswith("-opt"):
            llvm_binding.set_option("irkit", option)
    if "--emit" in options:
        code = emit([shipped(case.func, target)], target)
        sys.stdout.write(code if "--before" in options else str(optimise(code, target)))
        return 0
    return int(bool(run_cases(name, [case])[0]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
