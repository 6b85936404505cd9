"""Programs drawn by number, each in one of several forms: those in which the pass changes something
are drawn more often. One of each of some forms comes before all others."""

import hashlib
import random

import msgspec

from irkit.fuzz.check_pass.programs import DrawnProgram, Form, ProgramForms
from irkit.fuzz.picks import Picks, picks_of
from irkit.fuzz.shrink.choices import Choices, record_choices, replay_choices

FLOOR = 0.1
"""The least weight of a form, beside its share of programs that the pass changed: no form is ever
left out."""


class NumberedProgram(msgspec.Struct, frozen=True, eq=False):
    """A program, the form it was drawn in, and the choices that it was drawn from. ``number`` is
    that of the form, None for those that come first."""

    program: DrawnProgram
    form: Form
    choices: Choices
    number: int | None = None


class NumberedPrograms:
    """Programs that follow from a seed, and from what the pass did on those before."""

    def __init__(self, forms: ProgramForms, seed: object) -> None:
        self.forms = [form for _, form in forms.forms]
        self.first, self.seed = forms.first, seed
        self.count = 0
        self.tried, self.fired = [0] * len(self.forms), [0] * len(self.forms)

    def draw(self) -> NumberedProgram:
        """Draw the next program."""
        digest = hashlib.sha256(f"{self.seed} {self.count}".encode()).digest()
        number = int.from_bytes(digest[:8], "little")
        self.count += 1
        if self.count <= len(self.first):
            return _drawn(self.first[self.count - 1], picks_of(number))
        weights = [
            FLOOR + (fired + 1) / (tried + 2)
            for fired, tried in zip(self.fired, self.tried, strict=True)
        ]
        (form,) = random.Random(number).choices(range(len(self.forms)), weights)
        return _drawn(self.forms[form], picks_of(number), form)

    def learn(self, drawn: NumberedProgram, fired: bool) -> None:
        """Note whether the pass changed a program."""
        if drawn.number is not None:
            self.tried[drawn.number] += 1
            self.fired[drawn.number] += fired

    def redraw(self, drawn: NumberedProgram, choices: Choices) -> DrawnProgram:
        """Draw a program of the same form from other choices."""
        return drawn.form(replay_choices(choices))


def _drawn(form: Form, picks: Picks, number: int | None = None) -> NumberedProgram:
    recorded, kept = record_choices(picks)
    program = form(recorded)
    return NumberedProgram(program, form, tuple(kept), number)
