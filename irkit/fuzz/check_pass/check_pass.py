"""The decorator that tests a pass on random programs."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

from irkit.core import IRKitError
from irkit.fuzz.check_pass.check_run import Body, PassCheck
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.programs import checked_kinds
from irkit.fuzz.check_pass.settings import PassCheckSettings
from irkit.transform import AnyPass, Pass


class check_pass(PassCheckSettings, frozen=True, eq=False):
    """Decorator that makes a test of a function of a case: ``@check_pass(my_pass, phase=1)``.

    On each of many random programs, lowered with the pass ``p`` at its position, the pass must keep
    the contracts of every pass, and the function must raise nothing. The keyword arguments are
    those of :class:`PassCheckSettings`; options of the pass are those of ``p.using(...)``.

    Raises: IRKitError if the pass cannot stand at its position, or a setting is impossible.
    """

    p: object

    def __post_init__(self) -> None:
        if not isinstance(self.p, Pass):
            raise IRKitError(
                f"check_pass takes a pass, found {type(self.p).__name__}",
                hint="Decorate the function with @define_pass.",
            )
        checked_kinds(self.kinds, self._position().on_graphs)
        if not (self.fires is None or (type(self.fires) is int and self.fires >= 0)):
            raise IRKitError(
                f"fires is a number of programs that the pass must change, found {self.fires!r}",
                hint="Leave it out for a tenth of the examples; 0 means that it need not fire.",
            )

    def __call__(self, body: Body) -> Callable[..., None]:
        """Make a test of a function of a case."""
        position = self._position()
        check = PassCheck(position, body, self)

        @functools.wraps(body)
        def test(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            check.run(args, kwargs)

        signature = inspect.signature(body)
        others = [each for name, each in signature.parameters.items() if name != check.argument]
        setattr(test, "__signature__", signature.replace(parameters=others))
        setattr(test, "irkit_check", check)
        return test

    def _position(self) -> PassPosition:
        return PassPosition(
            cast(AnyPass, self.p),
            phase=self.phase,
            before=self.before,
            after=self.after,
            graph=self.graph,
        )
