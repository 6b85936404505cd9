"""Run some passes on a function that others have lowered so far."""

from irkit.ir import PrimFunc
from irkit.passes import BUILTIN
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE
from irkit.transform import Pipeline, Registry, read_phases, sub_pipeline


def pipeline_for(text: str, func: PrimFunc) -> Pipeline:
    """Read a pipeline such as ``1:simplify;2:my_module:my_pass`` to run on a function.

    What a pass needs and the function fulfils is taken as given. A name with a colon imports the
    module, which runs it. Raises: ParseError, OptionError, or IRKitError, each with the column;
    IRKitError if the passes cannot run in this order.
    """
    like = DEFAULT.then(LEGALIZE)
    phases = read_phases(text, Registry.of(BUILTIN).with_entry_points(), like)
    return sub_pipeline(like, [(phase.number, p) for phase in phases for p in phase.passes], func)
