"""Printing, timing, remarks and golden files, as functions over steps."""

from hypothesis import given, settings, strategies as st

from irkit.debug import file_name


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.text(min_size=1, max_size=90), min_size=2, max_size=2, unique=True))
def test_a_file_name_is_safe_and_tells_names_apart(names: list[str]) -> None:
    first, second = map(file_name, names)
    assert first != second
    for made in (first, second):
        assert len(made) <= 90
        assert made.isascii()
        assert not set(made) & set('/\\:*?"<>| \n\0')
        assert made.strip(".") != ""
