"""The places of values that share memory with others, for which no kernel is called."""

from collections.abc import Callable, Mapping

from irkit.codegen import Size, SizeArithmetic, TensorPlace
from irkit.core import IRKitError
from irkit.graph import Bind, Op, SharedMemory, Value


def shared_place(
    bind: Bind,
    shared: SharedMemory,
    slots: Mapping[tuple[str, int], Size],
    place_of: Callable[[Value], TensorPlace],
    sizes: SizeArithmetic,
) -> TensorPlace:
    """Return where the result of an operator without a kernel is: inside its operand, or around its
    operands, where the plan of the arena has it.

    Raises: IRKitError for an operator that needs a kernel.
    """
    value = bind.var
    if value in shared.joined:
        return TensorPlace("arena", slots[value.name, 0])
    part = shared.views.get(value)
    if part is None:
        name = bind.step.name if isinstance(bind.step, Op) else type(bind.step).__name__
        raise IRKitError(f"{name} {value.name!r} has no kernel", span=bind.span)
    base = place_of(part.whole)
    if not part.offset:
        return base
    return TensorPlace(base.kind, sizes.sum(base.at, part.offset, "the memory of a call"))
