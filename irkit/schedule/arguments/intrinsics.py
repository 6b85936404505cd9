"""Tensor intrinsics: the description of a small computation, and its implementation on a target."""

from collections.abc import Iterable, Iterator

import msgspec

from irkit.core import ScheduleError, uses, walk
from irkit.ir import Buffer, Load, PrimFunc, Store, as_int


class TensorIntrin(msgspec.Struct, frozen=True, eq=False):
    """A computation on small tensors: ``desc`` describes it as plain loops, and ``impl`` replaces
    it.

    Both have the same parameters, of constant shapes, and access them by loads and stores only.
    """

    name: str
    desc: PrimFunc
    impl: PrimFunc

    def __post_init__(self) -> None:
        shapes = [
            [
                (tuple(as_int(dim) for dim in param.shape), param.dtype)
                for param in func.params
                if isinstance(param, Buffer)
            ]
            for func in (self.desc, self.impl)
        ]
        reason = ""
        if shapes[0] != shapes[1] or len(shapes[0]) != len(self.desc.params):
            reason = "its two functions take different buffers"
        elif len(self.impl.params) != len(self.desc.params):
            reason = "its two functions take different parameters"
        elif any(None in shape for shape, _ in shapes[0]):
            reason = "a shape is not constant"
        given = set(self.impl.params)
        for node in walk(self.impl):
            if any(each in given for each in uses(node)) and not isinstance(node, (Load, Store)):
                reason = f"its implementation accesses a parameter by {type(node).__name__}"
        if reason:
            raise ScheduleError(f"{self.name!r} is not a tensor intrinsic: {reason}")


class Intrinsics:
    """An immutable collection of tensor intrinsics by name."""

    def __init__(self, intrinsics: Iterable[TensorIntrin] = ()) -> None:
        self._named = {each.name: each for each in intrinsics}

    def __iter__(self) -> Iterator[TensorIntrin]:
        return iter(self._named.values())

    def having(self, *more: TensorIntrin) -> "Intrinsics":
        """Return a collection with additional intrinsics.

        Raises: ScheduleError if a name is taken.
        """
        for each in more:
            if each.name in self._named:
                raise ScheduleError(f"there already is a tensor intrinsic {each.name!r}")
        return Intrinsics([*self._named.values(), *more])

    def get(self, name: str) -> TensorIntrin:
        """Return the intrinsic of a name.

        Raises: ScheduleError if there is none of that name.
        """
        found = self._named.get(name)
        if found is None:
            known = ", ".join(sorted(self._named)) or "none"
            raise ScheduleError(f"no tensor intrinsic {name!r}; known are: {known}")
        return found
