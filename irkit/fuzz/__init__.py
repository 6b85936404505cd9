"""Random programs for testing compilers: draw them, judge them, shrink what fails.

Reading order: picks (where choices come from), generators (random samples, and programs written by
hand), judge (is a sample right), shrink, campaign (`irkit fuzz`), check_pass (a decorator for
users' tests).
"""

from irkit.debug import (
    InputSet as InputSet,
)
from irkit.fuzz.check_pass.check_pass import (
    check_pass as check_pass,
)
from irkit.fuzz.check_pass.check_run import (
    PassCheck as PassCheck,
)
from irkit.fuzz.check_pass.finding import (
    PassRefuted as PassRefuted,
)
from irkit.fuzz.check_pass.pass_case import (
    PassCase as PassCase,
)
from irkit.fuzz.generators import (
    KINDS as KINDS,
    Kind as Kind,
    Sample as Sample,
    Unusable as Unusable,
)
from irkit.fuzz.generators.coverage import (
    never_drawn as never_drawn,
)
from irkit.fuzz.generators.draw_sample import (
    draw_sample as draw_sample,
)
from irkit.fuzz.generators.loops.loop_functions import (
    arguments as arguments,
    prim_funcs as prim_funcs,
)
from irkit.fuzz.generators.sample_file import (
    parse_sample as parse_sample,
    read_sample as read_sample,
)
from irkit.fuzz.generators.seed_corpus.texts import (
    KERNELS as KERNELS,
)
from irkit.fuzz.generators.strategies import (
    graphs as graphs,
    onnx_models as onnx_models,
    pipelines as pipelines,
    programs as programs,
    schedules as schedules,
    tensors_for as tensors_for,
    texts as texts,
)
from irkit.fuzz.judge import (
    Outcome as Outcome,
    judge as judge,
)
from irkit.fuzz.picks import (
    Picks as Picks,
    picks_of as picks_of,
)
