"""Random programs and planted bugs for finding faults. Reading order: expressions, nests,
exchanges, programs, lane_loops; picks, stages, stage_values, value_draws, stage_steps, stage_draws,
schedule_draws (random schedules); generators, sample, strategies, coverage (samples of each kind);
judging, shrinking, campaign, command_fuzz (many samples in worker processes); kernels, threads,
fixed_schedules, fixed_graphs, cases; trial, quarry, forking, nursery (a changed pass in a child
process); planted, mutants, users, score, command_teeth; hunting (are planted bugs found by drawn
samples); hostile; pass_check (a decorator for users' tests)."""

from irkit.debug import InputSet
from irkit.fuzz.check_pass import PassCase, PassCheck, PassRefuted, check_pass
from irkit.fuzz.generators import KINDS, Kind, Sample, Unusable
from irkit.fuzz.generators.coverage import never_drawn
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.loops.loop_functions import arguments, prim_funcs
from irkit.fuzz.generators.strategies import (
    graphs,
    onnx_models,
    pipelines,
    programs,
    schedules,
    tensors_for,
    texts,
)
from irkit.fuzz.judge import Outcome, judge
from irkit.fuzz.picks import Picks, picks_of
from irkit.fuzz.seed_corpus.kernels import KERNELS
from irkit.fuzz.shrink import parse_sample, read_sample

__all__ = [
    "KERNELS",
    "KINDS",
    "InputSet",
    "Kind",
    "Outcome",
    "PassCase",
    "PassCheck",
    "PassRefuted",
    "Picks",
    "Sample",
    "Unusable",
    "arguments",
    "check_pass",
    "draw_sample",
    "graphs",
    "judge",
    "never_drawn",
    "onnx_models",
    "parse_sample",
    "picks_of",
    "pipelines",
    "prim_funcs",
    "programs",
    "read_sample",
    "schedules",
    "tensors_for",
    "texts",
]
