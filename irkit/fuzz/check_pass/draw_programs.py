"""Programs drawn until enough were examined: by number, or by a strategy of the user's."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

from hypothesis import (
    HealthCheck,
    Phase,
    Verbosity,
    errors,
    given,
    seed as seeded,
    settings,
    strategies as st,
)

from irkit.fuzz.check_pass.case_runner import CaseRunner
from irkit.fuzz.check_pass.numbered_programs import NumberedProgram, NumberedPrograms
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.programs import (
    DrawnProgram,
    ProgramForms,
    as_program,
    checked_kinds,
    forms_of,
)
from irkit.fuzz.check_pass.settings import PassCheckSettings
from irkit.fuzz.generators.aimed.aim import aim_of
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.picks import Picks
from irkit.fuzz.shrink.choices import Choices, shrink_choices

MOST_CANDIDATES = 1_000
# What they warn of is counted here: see CheckTally.
_ALL = [
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.too_slow,
    HealthCheck.large_base_example,
    HealthCheck.differing_executors,
    HealthCheck.function_scoped_fixture,
    HealthCheck.nested_given,
]
_UNLIMITED = 1_000_000


class _Enough(BaseException):
    """Ends the drawing: Hypothesis lets through what is no Exception."""


def source_of(
    settings: PassCheckSettings, position: PassPosition
) -> st.SearchStrategy[Any] | ProgramForms:
    """Return where programs come from: the user's strategy or function, or irkit's generators."""
    if isinstance(settings.strategy, st.SearchStrategy):
        return cast("st.SearchStrategy[Any]", settings.strategy)
    if settings.strategy is not None:
        return ProgramForms((("strategy", partial(_drawn_by_user, settings.strategy)),))
    kinds = checked_kinds(settings.kinds, position.on_graphs)
    return forms_of(kinds, position.fits, aim_of(position.p))


def _drawn_by_user(draw: Callable[[Picks], object], picks: Picks) -> DrawnProgram:
    try:
        return as_program(draw(picks))
    except Unusable as error:
        return DrawnProgram(None, why_not=error.message)


def draw_by_number(cases: CaseRunner, forms: ProgramForms, seed: object) -> None:
    """Draw programs in some forms. Raises: what the smallest one that fails raises."""
    programs = NumberedPrograms(forms, seed)
    while not cases.is_enough():
        drawn = programs.draw()
        fired = cases.tally.fired
        try:
            cases.one(drawn.program)
        except errors.UnsatisfiedAssumption:
            continue
        except Exception as error:  # A contract, or what the body asserts.
            if cases.last is None:
                raise
            raise _smallest(cases, programs, drawn, error) from None
        programs.learn(drawn, cases.tally.fired > fired)


def _smallest(
    cases: CaseRunner, programs: NumberedPrograms, drawn: NumberedProgram, error: Exception
) -> Exception:
    """Draw smaller programs that fail alike, and return what the smallest one raised."""
    raised = [error]

    def holds(choices: Choices) -> bool:
        try:
            cases.one(programs.redraw(drawn, choices))
        except Exception as again:  # A smaller program must fail in the same way.
            if type(again) is not type(error):
                return False
            raised.append(again)
            return True
        return False

    seconds = cases.budget.left / 2
    shrink_choices(drawn.choices, holds, seconds=seconds, candidates=MOST_CANDIDATES)
    return raised[-1]


def draw_from_strategy(cases: CaseRunner, strategy: st.SearchStrategy[Any], seed: object) -> None:
    """Have Hypothesis draw programs, and shrink what fails. Raises: as it does, or what the body
    of the test raises."""

    def one(drawn: Any) -> None:
        if cases.last is None and cases.is_enough():
            raise _Enough
        program = as_program(drawn)
        if cases.last is not None and cases.budget.spent > shrinking_ends(cases):
            known = cases.last[0].ir
            # Hypothesis shrinks until nothing smaller fails, so from here on nothing does.
            if program.ir is None or known is None or program.ir.script() != known.script():
                return
        cases.one(program)

    made = seeded(seed)(given(drawn=strategy)(one))
    test = settings(
        max_examples=_UNLIMITED,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=_ALL,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
    )(made)
    with suppress(_Enough, errors.Unsatisfiable):  # The latter is reported with the counts.
        test()


def shrinking_ends(cases: CaseRunner) -> float:
    """Return how much of the budget is spent when the strategy stops shrinking: the rest is for
    reducing the program. Units: seconds."""
    return 0.85 * cases.budget.seconds
