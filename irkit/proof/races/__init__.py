"""Proofs that iterations, or threads between barriers, never meet, for all inputs and all sizes.

Reading order: single_lanes (a vector at one lane), places (the accesses of each statement, and the
memory they touch), pairs (two accesses as a question to z3), meetings (a loop or a nest of threads,
pair by pair), races.
"""

from irkit.proof.races.races import (
    LoopRaces as LoopRaces,
    RaceStatus as RaceStatus,
    check_races as check_races,
)
