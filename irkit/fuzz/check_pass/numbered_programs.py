"""Programs drawn by number, each in one of several forms: those in which the pass changes something
are drawn more often."""

import hashlib
import random
from collections.abc import Sequence

import msgspec

from irkit.fuzz.check_pass.programs import DrawnProgram, Form
from irkit.fuzz.picks import picks_of
from irkit.fuzz.shrink.choices import Choices, record_choices, replay_choices

FLOOR = 0.1
"""The least weight of a form, beside its share of programs that the pass changed: no form is ever
left out."""


class NumberedProgram(msgspec.Struct, frozen=True, eq=False):
    """A program, the form it was drawn in, and the choices that it was drawn from."""

    program: DrawnProgram
    form: int
    choices: Choices


class NumberedPrograms:
    """Programs that follow from a seed, and from what the pass did on those before."""

    def __init__(self, forms: Sequence[tuple[str, Form]], seed: object) -> None:
        self.forms, self.seed = forms, seed
        self.count = 0
        self.tried, self.fired = [0] * len(forms), [0] * len(forms)

    def draw(self) -> NumberedProgram:
        """Draw the next program."""
        digest = hashlib.sha256(f"{self.seed} {self.count}".encode()).digest()
        number = int.from_bytes(digest[:8], "little")
        self.count += 1
        weights = [
            FLOOR + (fired + 1) / (tried + 2)
            for fired, tried in zip(self.fired, self.tried, strict=True)
        ]
        (form,) = random.Random(number).choices(range(len(self.forms)), weights)
        picks, kept = record_choices(picks_of(number))
        program = self.forms[form][1](picks)
        return NumberedProgram(program, form, tuple(kept))

    def learn(self, drawn: NumberedProgram, fired: bool) -> None:
        """Note whether the pass changed a program."""
        self.tried[drawn.form] += 1
        self.fired[drawn.form] += fired

    def redraw(self, drawn: NumberedProgram, choices: Choices) -> DrawnProgram:
        """Draw a program of the same form from other choices."""
        return self.forms[drawn.form][1](replay_choices(choices))
