"""Proofs of many claims: each distinct one once, harder ones again while there is time left."""

from collections.abc import Iterable
from time import process_time

import msgspec

from irkit.ir.arith import Claim
from irkit.proof.claim_key import claim_key
from irkit.proof.outcome import Outcome, Proved, Refuted, Unknown
from irkit.proof.prove import prove_claim

SECONDS = 0.3
RETRY_SECONDS = 3.0
RETRIES = 8


class ProofCount(msgspec.Struct):
    """How many claims were proved, refuted, and neither."""

    proved: int = 0
    refuted: int = 0
    unknown: int = 0

    @property
    def all(self) -> int:
        return self.proved + self.refuted + self.unknown

    def add(self, outcome: Outcome) -> None:
        """Count one more claim."""
        self.proved += isinstance(outcome, Proved)
        self.refuted += isinstance(outcome, Refuted)
        self.unknown += isinstance(outcome, Unknown)


class Prover:
    """Proofs that remember their outcomes.

    ``seconds`` is the time for each way to prove a claim, ``retry_seconds`` that of a second
    attempt, of which there are at most ``retries`` in all. Units: seconds of :func:`prove_equal`.
    """

    def __init__(
        self,
        seconds: float = SECONDS,
        retry_seconds: float = RETRY_SECONDS,
        retries: int = RETRIES,
    ) -> None:
        self.seconds, self.retry_seconds, self.retries = seconds, retry_seconds, retries
        self.outcomes: dict[str, Outcome] = {}
        self.times: list[float] = []

    def prove(self, claim: Claim) -> Outcome:
        """Prove a claim, or look up what came of one that says the same.

        Raises: as :func:`prove_equal`.
        """
        key = claim_key(claim)
        found = self.outcomes.get(key)
        if found is None:
            started = process_time()
            found = self._proved(claim)
            self.times.append(process_time() - started)
            self.outcomes[key] = found
        return found

    def count(self, claims: Iterable[Claim]) -> ProofCount:
        """Prove claims and count the outcomes."""
        total = ProofCount()
        for claim in claims:
            total.add(self.prove(claim))
        return total

    def _proved(self, claim: Claim) -> Outcome:
        found = prove_claim(claim, seconds=self.seconds)
        if isinstance(found, Unknown) and found.out_of_time and self.retries:
            self.retries -= 1
            return prove_claim(claim, seconds=self.retry_seconds)
        return found
