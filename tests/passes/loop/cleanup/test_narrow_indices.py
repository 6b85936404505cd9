"""Indices become 32-bit only if every value fits."""

from irkit.passes import loop
from tests.passes.loop.programs import body, func


def test_indices_that_might_not_fit_stay_wide() -> None:
    given = func(
        "for i in serial(0, 2):", "    for j in serial(0, n):", "        C[i * n + j] = A[i]"
    )
    made = body(loop.narrow_indices(given))
    assert "for j in serial(0, n):" in made
    assert "cast(i, i64) * n + j" in made
