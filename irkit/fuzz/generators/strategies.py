"""Hypothesis strategies for users: samples of each kind, and arguments for a function.

A sample holds the program in ``ir``, arguments in ``inputs``, and expected results in ``expected``;
see :class:`irkit.fuzz.Sample`. All shrink: to few stages, steps, operators and small extents.

Example::

    @given(programs())
    def test_my_pass_keeps_what_a_program_computes(sample):
        lowered = my_pass(sample.ir)
        for inputs, expected in zip(sample.inputs, sample.expected):
            ...
"""

from collections.abc import Sequence

from hypothesis import reject, strategies as st

from irkit.debug import InputSet
from irkit.fuzz.generators.arguments import draw_arguments
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import Kind, Sample, Unusable
from irkit.fuzz.generators.stages.theme import Numbers
from irkit.fuzz.picks import Picks, picks
from irkit.ir import PrimFunc

NUMBERS: tuple[Numbers, ...] = ("whole", "integers", "fractions", "special")


def programs() -> st.SearchStrategy[Sample]:
    """Draw loop functions with their arguments: tensor expressions, and one in six bare loops.

    Expected results of tensor expressions come from NumPy; for bare loops ``expected`` is None:
    compare with the interpreter.

    Example: ``@given(programs())``, then ``sample.ir`` is a ``PrimFunc``.
    """
    return samples("programs")


def schedules() -> st.SearchStrategy[Sample]:
    """Draw programs with a legal schedule in ``sample.schedule``.

    Example: ``sample.schedule.apply(Schedule(sample.ir))`` runs it.
    """
    return samples("schedules")


def pipelines() -> st.SearchStrategy[Sample]:
    """Draw programs with a pipeline of another order, other options and other passes.

    Example: ``sample.pipeline.run(sample.ir)``, where there is no schedule.
    """
    return samples("pipelines")


def graphs() -> st.SearchStrategy[Sample]:
    """Draw graph functions over all operators, and passes that lower them to kernels.

    Example: ``sample.pipeline.run(IRModule({"main": sample.ir}))``.
    """
    return samples("graphs")


def onnx_models() -> st.SearchStrategy[Sample]:
    """Draw ONNX models as bytes; ``expected`` is the result of onnx.reference.

    Example: ``irkit.compile(onnx.load_from_string(sample.ir))``.
    """
    return samples("onnx")


def texts() -> st.SearchStrategy[Sample]:
    """Draw IR text, three times in four with mistakes in it.

    Example: ``irkit.graph.parse_module(sample.ir)`` returns functions, or raises a ``ParseError``.
    """
    return samples("text")


def samples(kind: Kind) -> st.SearchStrategy[Sample]:
    """Draw samples of a kind."""

    def drawn(chosen: Picks) -> Sample:
        try:
            return draw_sample(kind, chosen)
        except Unusable:
            reject()

    return picks().map(drawn)


def tensors_for(
    func: PrimFunc, numbers: Sequence[Numbers] = NUMBERS, *, empty: bool = False
) -> st.SearchStrategy[InputSet]:
    """Draw arguments for a function: ``whole`` numbers, ``integers`` of any size, ``fractions``,
    ``special`` values.

    ``empty`` allows symbolic extents of 0.

    Example: ``@given(tensors_for(func, ["whole"]))``, then ``func_under_test(*inputs.copied())``.
    """

    def drawn(chosen: Picks) -> InputSet:
        return draw_arguments(func, chosen, chosen.pick(numbers), empty=empty)

    return picks().map(drawn)
