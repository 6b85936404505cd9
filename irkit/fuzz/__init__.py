"""Random programs and planted bugs for finding faults. Reading order: expressions, nests,
exchanges, programs, lane_loops; picks, stages, stage_values, value_draws, stage_steps, stage_draws,
schedule_draws (random schedules); generators, sample, strategies, coverage (samples of each kind);
judging, shrinking, campaign, command_fuzz (many samples in worker processes); kernels, threads,
fixed_schedules, fixed_graphs, cases; trial, quarry, forking, nursery (a changed pass in a child
process); planted, mutants, users, score, command_teeth; hunting (are planted bugs found by drawn
samples); hostile; pass_check (a decorator for users' tests)."""

from irkit.debug import (
    InputSet as InputSet,
)
from irkit.fuzz.check_pass import (
    PassCase as PassCase,
    PassCheck as PassCheck,
    PassRefuted as PassRefuted,
    check_pass as check_pass,
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
from irkit.fuzz.seed_corpus.kernels import (
    KERNELS as KERNELS,
)
from irkit.fuzz.shrink import (
    parse_sample as parse_sample,
    read_sample as read_sample,
)
