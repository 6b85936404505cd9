"""Random programs and planted bugs for finding faults. Reading order: expressions, nests, programs;
picks, stage_draws, schedule_draws (random schedules); kernels, threads, schedules, graphs (fixed
programs), cases; trial, nursery (a changed pass in a child process); planted, mutants, score,
command_teeth; campaign and command_fuzz (many cases in worker processes); pass_check (a decorator
for users' tests)."""

from irkit.fuzz.kernels import KERNELS
from irkit.fuzz.pass_check import PassCase, PassCheck, PassRefuted, check_pass
from irkit.fuzz.programs import arguments, prim_funcs

__all__ = [
    "KERNELS",
    "PassCase",
    "PassCheck",
    "PassRefuted",
    "arguments",
    "check_pass",
    "prim_funcs",
]
