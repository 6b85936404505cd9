"""Templates: functions that make a schedule from ``cfg`` and arguments, found by file and name."""

import hashlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import msgspec

from irkit.core import IRKitError
from irkit.ir import PrimFunc
from irkit.schedule import Schedule
from irkit.te import StageSchedule, Tensor, create_prim_func
from irkit.tune.templates.config import Config

_MARK = "__irkit_template__"


class Templated(msgspec.Struct, frozen=True, eq=False):
    """What a run of a template made: the loops as nobody has scheduled them, the schedule (None for
    a function that neither has knobs nor samples), and the knobs."""

    written: PrimFunc
    schedule: Schedule | None
    config: Config


class Template(msgspec.Struct, frozen=True):
    """A template: its name in records, and ``where`` it is, as ``kernel.py:matmul``."""

    name: str
    where: str

    def run(self, args: Sequence[Any], values: dict[str, Any] | None = None) -> Templated:
        """Run the template with these values of its knobs; the first ones where none is given.

        Raises: ScheduleError if a value is not legal; IRKitError if the template is not one.
        """
        function = _function(self.where)
        if not hasattr(function, _MARK):
            made = self._called(function, args)
            schedule = made if isinstance(made, Schedule) and made.trace.samples else None
            return Templated(_written(self.where, made), schedule, Config())
        config = Config(values)
        made = self._called(function, args, config)
        if isinstance(made, Schedule):
            return Templated(made.written, made, config)
        pair = _parts(made)
        if len(pair) == 2 and isinstance(pair[0], StageSchedule):
            stages, tensors = (
                pair[0],
                [each for each in _parts(pair[1]) if isinstance(each, Tensor)],
            )
            written = create_prim_func(tensors)
            return Templated(written, stages.loops(tensors, written.name), config)
        raise IRKitError(
            f"{self.where} returned a {type(made).__name__}; expected a schedule of loops, or a "
            "pair of a schedule of tensors and its parameters"
        )

    def _called(self, function: Callable[..., Any], args: Sequence[Any], *config: Config) -> object:
        """Call the function. Raises: IRKitError if it does, or takes other arguments."""
        signature = inspect.signature(function)
        try:
            signature.bind(*config, *args)
        except TypeError as error:
            wanted = ", ".join(list(signature.parameters)[len(config) :])
            raise IRKitError(
                f"{self.where} takes the arguments ({wanted}), found {list(args)}: {error}",
                hint="Give them as --args 512,512, or as the second argument of tune.task.",
            ) from None
        try:
            return function(*config, *args)
        except IRKitError:
            raise
        except (Exception, SystemExit) as error:
            line = _last_line(error, self.where.rpartition(":")[0])
            raise IRKitError(
                f"{self.where} raised at line {line}: {type(error).__name__}: {error}"
            ) from error


def template(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function as the template of a name. It is marked, and nothing else: its first
    parameter is the :class:`Config`, the others are the arguments of a task."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(function, _MARK, name)
        return function

    return mark


def load_template(given: str | Callable[..., Any]) -> Template:
    """Return the template that a text such as ``kernel.py:matmul`` names, or that a function is.

    A function that is not marked is one without knobs: it returns tensors or loops.
    Raises: IRKitError if there is none.
    """
    if isinstance(given, str):
        where = given
    else:
        file = inspect.getsourcefile(given)
        if file is None or given.__qualname__ != given.__name__:
            raise IRKitError(
                f"{given.__qualname__} is not a function of a file, so other processes cannot "
                "import it"
            )
        where = f"{file}:{given.__name__}"
    path, _, name = where.rpartition(":")
    where = f"{os.path.abspath(path)}:{name}"
    function = _function(where)
    return Template(getattr(function, _MARK, name), where)


def _function(where: str) -> Callable[..., Any]:
    path, _, name = where.rpartition(":")
    found = getattr(_module(path), name, None)
    if not callable(found):
        raise IRKitError(f"{path} has no function {name!r}")
    return found


@cache
def _module(path: str) -> ModuleType:
    for module in list(sys.modules.values()):  # It may be imported under its own name already.
        if getattr(module, "__file__", None) == path:
            return module
    if not Path(path).is_file():
        raise IRKitError(f"there is no file {path}", hint="Write FILE.py:FUNCTION.")
    name = f"irkit_template_{hashlib.sha256(path.encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise IRKitError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        raise IRKitError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _written(where: str, made: object) -> PrimFunc:
    if isinstance(made, PrimFunc):
        return made
    if isinstance(made, Schedule):
        return made.written
    items = _parts(made) or [made]
    tensors = [each for each in items if isinstance(each, Tensor)]
    if tensors and len(tensors) == len(items):
        return create_prim_func(tensors)
    raise IRKitError(f"{where} returned a {type(made).__name__}; expected tensors or loops")


def _last_line(error: BaseException, path: str) -> int:
    """Return the last line of a file that an exception came through."""
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__)
             if os.path.abspath(frame.filename) == path]  # fmt: skip
    return lines[-1] if lines else 0


def _parts(made: object) -> list[object]:
    """Return the items of a list or tuple; none of anything else."""
    return list(cast("Sequence[object]", made)) if isinstance(made, (list, tuple)) else []
