"""Fill in the large constants of a trace, which holds them by digest only, from its model."""

import math
from collections.abc import Iterable, Iterator

from irkit.codegen import complete_target
from irkit.core import as_target
from irkit.graph import ArrayData, GraphFunc, constants_of
from irkit.inspector_web.record.own_onnx import import_own_onnx
from irkit.inspector_web.runs.run import Source
from irkit.inspector_web.text.texts import functions_in
from irkit.phases import GRAPH, for_target
from irkit.transform import IR, Step


def absent(steps: Iterable[Step]) -> list[ArrayData]:
    """List the constants in steps whose data is absent."""
    return [
        data for step in steps for data in _constants(step.before, step.after) if data.is_absent
    ]


def fill_constants(steps: Iterable[Step], source: Source, most: float = math.inf) -> None:
    """Fill in the absent constants of steps from the model that they were made from.

    If the model itself does not have them all, its graph passes run again, since passes make
    constants too. Does nothing if the constants take more than ``most`` bytes.
    Raises: IRKitError if the model cannot be read any more.
    """
    wanted = absent(steps)
    size = sum(
        math.prod(d.shape) * d.dtype.itemsize for d in {d.digest: d for d in wanted}.values()
    )
    if not wanted or source.kind != "model" or size > most:
        return
    module = import_own_onnx(source)
    known = {data.digest: data for data in _constants(module)}
    if not all(data.digest in known for data in wanted):
        for step in for_target(GRAPH, complete_target(as_target("llvm"))).steps(module):
            known |= {data.digest: data for data in _constants(step.after)}
    for data in wanted:
        if data.is_absent and data.digest in known:
            data.fill(known[data.digest])


def _constants(*irs: IR) -> Iterator[ArrayData]:
    for ir in irs:
        for _, func in functions_in(ir):
            if isinstance(func, GraphFunc):
                yield from constants_of(func).values()
