"""Proofs that two expressions are equal for all values, by the solver z3 (extra ``prove``).

Reading order: algebra (what a translation asks of integers), bit_vectors and integers (the two that
answer), floats, translate (expressions as terms of z3), outcome, concrete (the interpreter at the
values of a model), exhaustion (without a solver), prove, claim_key and prover (many claims);
rules; functions (a step); accesses (that none leaves its buffer); races (that no two iterations or
threads meet).

A bit vector has the meaning of docs/semantics.md for every operation; z3's unbounded integers reach
divisions by constants at 64 bits, which bit vectors do not. A refutation counts only after the
interpreter has computed two different values. Work is counted in steps of the solver and not in
seconds, so an outcome does not depend on the machine.
"""

from irkit.proof.accesses.bounds import (
    AccessBounds as AccessBounds,
    BoundsStatus as BoundsStatus,
    check_bounds as check_bounds,
)
from irkit.proof.exhaustion import (
    by_exhaustion as by_exhaustion,
)
from irkit.proof.functions.step import (
    prove_step as prove_step,
)
from irkit.proof.outcome import (
    Outcome as Outcome,
    Proved as Proved,
    Refuted as Refuted,
    StepProof as StepProof,
    Unknown as Unknown,
)
from irkit.proof.prove import (
    ProofFault as ProofFault,
    prove_claim as prove_claim,
    prove_equal as prove_equal,
)
from irkit.proof.prover import (
    ProofCount as ProofCount,
    Prover as Prover,
)
from irkit.proof.races.races import (
    LoopRaces as LoopRaces,
    RaceStatus as RaceStatus,
    check_races as check_races,
)
from irkit.proof.rules import (
    RuleProof as RuleProof,
    prove_rule as prove_rule,
    proved_rules as proved_rules,
)
from irkit.proof.solver import (
    has_z3 as has_z3,
    z3_module as z3_module,
)
from irkit.proof.texts import (
    claim_text as claim_text,
)
