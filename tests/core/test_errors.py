""""""

import pickle

import pytest

from irkit.core import DTypeError, FormatError, IRKitError, OptionError, Span


@pytest.mark.parametrize("cls", [IRKitError, OptionError, DTypeError, FormatError])
def test_errors_go_to_another_process(cls: type[IRKitError]) -> None:
    error = cls("bad", hint="Mend it.", span=Span("text", line=3))
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is cls
    assert str(back) == str(error)
    assert (back.message, back.hint, back.span) == (error.message, error.hint, error.span)
