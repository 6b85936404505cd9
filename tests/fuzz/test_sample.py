"""Samples are the same for the same choices, and what NumPy expects is what is interpreted."""

from irkit.fuzz.picks import picks_of
from irkit.fuzz.sample import draw_sample
from irkit.ir import PrimFunc, interpret, script


def test_what_numpy_expects_of_a_program_is_what_is_interpreted() -> None:
    for number in range(40):
        sample = draw_sample("programs", picks_of(number))
        assert isinstance(sample.ir, PrimFunc)
        for inputs, expected in zip(sample.inputs, sample.expected, strict=True):
            args = inputs.copied()
            interpret(sample.ir, *args)
            found = [args[place] for place in sample.outputs]
            assert expected is not None
            for array, wanted in zip(found, expected, strict=True):
                assert array.tobytes() == wanted.tobytes(), f"{number}\n{script(sample.ir)}"


def test_a_number_draws_the_same_sample_twice() -> None:
    first, again = (draw_sample("programs", picks_of(7)) for _ in range(2))
    assert isinstance(first.ir, PrimFunc)
    assert isinstance(again.ir, PrimFunc)
    assert script(first.ir) == script(again.ir)
    assert first.features == again.features
