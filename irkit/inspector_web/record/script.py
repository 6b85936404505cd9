"""Run a user's script, to record its pipelines or to find the passes that it defines."""

import os
import runpy
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress

from irkit.core import IRKitError
from irkit.inspector_web.record.step_recorder import watch_pipelines
from irkit.transform import AnyPass, Pipeline


class _AllPassesSeen(BaseException):
    """Ends a script once all passes are found. A BaseException, so the script does not catch it."""


def passes_of_script(file: str, names: Iterable[str]) -> Mapping[str, AnyPass]:
    """Find passes that a script defines, by running it until its pipelines have contained them."""
    wanted = set(names)
    found: dict[str, AnyPass] = {}

    def see(pipeline: Pipeline) -> None:
        found.update((p.name, p) for _, p in pipeline.placed if p.name in wanted)
        if wanted <= found.keys():
            raise _AllPassesSeen

    with suppress(_AllPassesSeen, IRKitError), watch_pipelines(see):
        run_script(file)
    return found


def run_script(file: str) -> None:
    """Run a script as the main program.

    Raises: IRKitError if it raises, or exits with an error.
    """
    sys.argv = [file]
    # Bytecode of a module that is saved twice within a second would pass for current.
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise IRKitError(f"the script ended with {stop.code}") from None
    except (IRKitError, KeyboardInterrupt):
        raise
    except BaseException as error:
        where = _line_of(error, file)
        raise IRKitError(
            f"{os.path.basename(file)}{where}: {type(error).__name__}: {error}"
        ) from error


def _line_of(error: BaseException, file: str) -> str:
    line, at = "", error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == file:
            line = f":{at.tb_lineno}"
        at = at.tb_next
    return line
