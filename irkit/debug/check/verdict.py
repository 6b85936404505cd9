"""Result of the check of one step."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from irkit.debug.check.difference import Difference
from irkit.debug.check.schedule_steps import phase_label

Status = Literal[
    "same", "rounds differently", "differs", "failed", "races", "out of bounds", "not known"
]
Answer = Literal["independent", "carried", "not known"]
Guilty = Literal["", "pass", "code generation"]
Basis = Literal["proved", "tested", "not known"]
WRONG: tuple[Status, ...] = ("differs", "failed", "races", "out of bounds")


class LoopOrder(msgspec.Struct, frozen=True):
    """What is known about the order of a loop's iterations, or of a nest's threads.

    ``independent``: shown for all inputs; ``carried``: two of them meet, and ``reason`` names both
    and the element; ``not known``: they may meet, but did not on the inputs tried.
    """

    kind: str
    loop: str
    answer: Answer
    reason: str = ""


class Trust(msgspec.Struct, frozen=True):
    """Of ``tried`` small changes to the result of a step, how many the inputs tell from it;
    ``survivors`` are the first others, each with its line in the result."""

    killed: int
    tried: int
    survivors: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.killed} of {self.tried} mutants differ"
        return f"{text}; not killed: {'; '.join(self.survivors)}" if self.survivors else text


class Verdict(msgspec.Struct, frozen=True):
    """Result of the check of one step.

    ``same``: the same bits as before the step; ``rounds differently``: other bits, of a pass that
    declares it, within the bound; ``differs``: other numbers; ``races``: two iterations or threads
    that nothing orders touch one element; ``out of bounds``: an access leaves its buffer;
    ``failed``: cannot run, does not verify, was ``stopped`` at its limit, or lost what is no value
    and must stay (an assertion, a name, a call, an attribute); ``not known``: could
    not be tried. ``message`` gives the reason. ``error`` holds the largest errors and the first
    wrong element, in ``buffer``; ``inputs`` names the set of inputs, ``how`` what ran the program,
    ``tried`` what it ran on. ``basis`` is what a verdict rests on. If a proof was asked for and not
    found, ``unproved`` is the reason; ``sizes`` are those for which it was found, if there are
    some. ``branches`` counts the branches that never decided a result on the inputs tried.
    ``orders`` is what is known of the loops without an order that the step made or changed.
    ``trust`` says how many mutants of the result the inputs tell from it, where that was asked.
    ``level`` is that of the pass: phases of the loop IR and of the graph are numbered separately.
    ``in_code``: the verdict is on the native code of a stage, not on a pass.
    """

    index: int
    function: str
    phase: int
    name: str
    pass_text: str
    status: Status
    changed: bool = True
    error: Difference = Difference()
    buffer: str = ""
    inputs: str = ""
    how: str = ""
    message: str = ""
    tried: str = ""
    basis: Basis = "not known"
    unproved: str = ""
    sizes: str = ""
    orders: tuple[LoopOrder, ...] = ()
    level: str = "loop"
    stopped: bool = False
    in_code: bool = False
    branches: int = 0
    trust: Trust | None = None

    @property
    def guilty(self) -> Guilty:
        """Return what is to blame, if the verdict is wrong."""
        return "" if not self.is_wrong else "code generation" if self.in_code else "pass"

    @property
    def said(self) -> str:
        """Return the status in words."""
        return "stopped at its limit" if self.stopped else self.status

    @property
    def phase_text(self) -> str:
        """Return the phase in words; native code is made after all of them."""
        if self.in_code:
            return "code"
        return f"graph {self.phase}" if self.level == "graph" else phase_label(self.phase)

    @property
    def ok(self) -> bool:
        """Return True if the step is known to keep the meaning."""
        return self.status in ("same", "rounds differently")

    @property
    def is_wrong(self) -> bool:
        """Return True if the step changes the meaning, or its result does not run."""
        return self.status in WRONG

    @property
    def unused(self) -> str:
        """Return that branches never mattered, or an empty string."""
        if not self.branches or self.basis == "proved":
            return ""
        return f"{self.branches} branch{'es' if self.branches > 1 else ''} never mattered"

    @property
    def order(self) -> str:
        """Return what is known of the loops in ``orders``, or an empty string."""
        apart = [
            f"{each.kind} {each.loop!r}" for each in self.orders if each.answer == "independent"
        ]
        texts = [f"{', '.join(dict.fromkeys(apart))}: independent"] if apart else []
        others = [each for each in self.orders if each.answer != "independent"]
        texts += [f"{each.kind} {each.loop!r}: {each.answer} ({each.reason})" for each in others]
        return "; ".join(texts)

    @property
    def wrong_element(self) -> str:
        """Return the first wrong element and what it should be, or an empty string."""
        if self.error.at is None:
            return ""
        at = ", ".join(map(str, self.error.at))
        return f"{self.buffer}[{at}] is {self.error.found}, expected {self.error.expected}"

    def __str__(self) -> str:
        text = f"{self.phase_text}: '{self.pass_text}' on {self.function!r}: {self.said}"
        return ": ".join(filter(None, (text, self.wrong_element, self.message)))


def is_trusted(found: Iterable[Verdict]) -> bool:
    """Return True if no step is wrong and at least one changed step, if any, was run."""
    known = list(found)
    tried = [each for each in known if each.changed]
    return not any(each.is_wrong for each in known) and (
        not tried or any(each.ok for each in tried)
    )
