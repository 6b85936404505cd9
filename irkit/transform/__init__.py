"""The pass machinery, generic in the IR.

Reading order: facts, define (with options and spec), order, pipeline (with pipeline_spec,
sub_pipeline and digests), run, step, verified_last; then registry and trace.

Nothing here knows a node class: a ``Level`` says how one IR is verified, printed and compared. A
``Pass`` is equal by function and options, and pickles as ``module:qualname``. Each edit of a
pipeline builds a new one and checks facts and orders again; of a pass that runs several times, the
first run counts for an order. After a pass only what changed is verified, and each fact in force is
asked; a run whose steps nobody sees is verified at its end. The names a trace prints with are one
table, so that an unchanged variable keeps its name. On a module, function passes go function by
function, and a module pass is a barrier between them.
"""

from irkit.core import (
    fixpoint as fixpoint,
)
from irkit.transform.define import (
    PASS_CALLER as PASS_CALLER,
    AnyPass as AnyPass,
    Origin as Origin,
    Pass as Pass,
    define_pass as define_pass,
    load_pass as load_pass,
)
from irkit.transform.digests import (
    function_digest as function_digest,
    is_own as is_own,
    pass_digest as pass_digest,
    pipeline_digest as pipeline_digest,
)
from irkit.transform.facts import (
    Fact as Fact,
)
from irkit.transform.options import (
    Option as Option,
)
from irkit.transform.order import (
    MissingFact as MissingFact,
    Order as Order,
    facts_after as facts_after,
)
from irkit.transform.pipeline import (
    Phase as Phase,
    Pipeline as Pipeline,
    chain_steps as chain_steps,
)
from irkit.transform.pipeline_spec import (
    parse_pipeline as parse_pipeline,
    read_phases as read_phases,
)
from irkit.transform.registry import (
    Registry as Registry,
)
from irkit.transform.run import (
    Apply as Apply,
    apply_here as apply_here,
    apply_pass as apply_pass,
    run_steps as run_steps,
    runs_here as runs_here,
)
from irkit.transform.spec import (
    PassSpec as PassSpec,
    PlacedSpec as PlacedSpec,
    parse_phases as parse_phases,
    parse_placed as parse_placed,
    parse_spec as parse_spec,
    render_spec as render_spec,
)
from irkit.transform.step import (
    IR as IR,
    Attempt as Attempt,
    FailureKind as FailureKind,
    FunctionState as FunctionState,
    NumberedPass as NumberedPass,
    PassFailed as PassFailed,
    PassHalted as PassHalted,
    Side as Side,
    Step as Step,
    VerificationFailed as VerificationFailed,
    functions_of as functions_of,
    list_problems as list_problems,
    script_of as script_of,
)
from irkit.transform.sub_pipeline import (
    sub_pipeline as sub_pipeline,
)
from irkit.transform.trace.channel import (
    StepChannel as StepChannel,
)
from irkit.transform.trace.model import (
    Trace as Trace,
)
from irkit.transform.trace.state_names import (
    StateNames as StateNames,
    levels_by_class as levels_by_class,
)
from irkit.transform.trace.trace_folder import (
    is_recording as is_recording,
    recorded as recorded,
)
from irkit.transform.verified_last import (
    run_recorded as run_recorded,
)
