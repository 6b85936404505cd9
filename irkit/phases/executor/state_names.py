"""State in place as a caller names it: inputs, and the outputs that are written over them."""

from collections.abc import Mapping

from irkit.core import InputError, IRKitError, IRModule
from irkit.graph import GraphFunc, StatePair, results_of, state_pairs, verify, with_state
from irkit.phases.executor.tensor_specs import input_names, output_names

StateNames = Mapping[str, str | tuple[str, int, int]]
"""Outputs by the inputs that they are written over: a name, or for a cache the name, the axis along
which it grows, and its capacity."""


def in_place(module: IRModule, state: StateNames) -> IRModule:
    """Return a module whose function ``main`` writes these outputs over these inputs.

    Raises: InputError for a name that is none of the model's; IRKitError if an output cannot be
    written over its input, with the reason.
    """
    main = module["main"]
    if not state or not isinstance(main, GraphFunc):
        return module
    results = results_of(main)
    inputs = input_names(main)
    outputs = output_names(main, [result.name for result in results])
    made = list(state_pairs(main))
    for given, how in state.items():
        result, axis, capacity = (how, 0, 0) if isinstance(how, str) else how
        for what, name, names in (("input", given, inputs), ("output", result, outputs)):
            if name not in names:
                listed = ", ".join(names) or "none"
                raise InputError(f"state: {name!r} is not an {what}; the {what}s are: {listed}")
        made.append(StatePair(inputs.index(given), outputs.index(result), axis, capacity))
    changed = module.with_functions({"main": with_state(main, tuple(made))})
    problems = verify(changed)
    if problems:
        raise IRKitError("\n  ".join(["state in place:", *map(str, problems)]))
    return changed
