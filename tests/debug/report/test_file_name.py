"""File names made from names of functions."""

from hypothesis import given, settings, strategies as st

from irkit.debug import file_name
from tests.draws import few_or_all


@settings(max_examples=few_or_all(80, 200), derandomize=True)
@given(st.lists(st.text(min_size=1, max_size=90), min_size=2, max_size=2, unique=True))
def test_file_names_are_safe_and_distinct(names: list[str]) -> None:
    first, second = map(file_name, names)
    assert first != second
    for made in (first, second):
        assert len(made) <= 90
        assert made.isascii()
        assert not set(made) & set('/\\:*?"<>| \n\0')
        assert made.strip(".") != ""
