"""A check of samples against the interpreter."""

from irkit.debug import compare
from irkit.fuzz.generators import Sample
from irkit.ir import PrimFunc, interpret, script

COUNT = 120


def difference(sample: Sample, func: PrimFunc) -> str:
    """Interpret a function on the arguments of a sample, and return what is not as expected."""
    for inputs, expected, allowed in zip(
        sample.inputs, sample.expected, sample.allowed, strict=True
    ):
        args = inputs.copied()
        interpret(func, *args)
        for place, wanted, limit in zip(sample.outputs, expected or (), allowed, strict=False):
            signs = sample.zeros_have_signs
            apart = compare(wanted, args[place], limit, zeros_have_signs=signs)
            if apart.at is not None:
                return f"{func.params[place].name}: {apart}\n{script(func)}"
    return ""
