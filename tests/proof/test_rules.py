"""Rules of a user's, proved when they are defined."""

import pytest

from irkit.core import IRKitError, Rule
from irkit.ir import (
    ANY_FLOAT,
    ANY_INTEGER,
    Const,
    Expr,
    Mul,
    hole,
    peephole,
)
from irkit.proof import prove_rule, proved_rules

pytest.importorskip("z3")
X, Y = hole("x", ANY_INTEGER), hole("y", ANY_INTEGER)
F, G, H = hole("f", ANY_FLOAT), hole("g", ANY_FLOAT), hole("h", ANY_FLOAT)
BYTE = hole("byte", "u8")
DIVISOR = hole("d", "u8", on=Const)


def test_rules_that_hold_are_proved_at_every_width() -> None:
    rules = (
        peephole("x - x", X - X, 0 * X),
        peephole("x + y - y", X + Y - Y, X),
        peephole("twice", X * 2, X + X),
        peephole("f * 1", F * 1.0, F),
        peephole("both sides", F + G + F, F + (G + F)),  # Floats commute.
    )
    assert proved_rules(*rules) == rules
    found = prove_rule(rules[1])
    assert set(found.proved) == {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"}
    assert set(prove_rule(rules[3]).proved) == {"f16", "bf16", "f32", "f64"}


def power(c: Const) -> bool:
    value = int(c.value)
    return value > 0 and value & (value - 1) == 0


def test_constants_of_8_bits_are_all_tried() -> None:
    def shifted(byte: Expr, d: Const) -> Expr:
        return byte >> (int(d.value).bit_length() - 1)

    rule = peephole("shift", BYTE // DIVISOR, shifted, where=lambda d: power(d))
    found = prove_rule(rule)
    assert found.proved == {"u8": 8}
    assert found.ok


WRONG = {
    "halve what was doubled": (lambda: peephole("half", X * 2 // 2, X), "x = "),
    "x / x is 1": (lambda: peephole("one", X // X, X // X * 0 + 1), "x = 0"),
    "add 0.0": (lambda: peephole("zero", F + 0.0, F), "f = -0.0"),
    "float minus itself": (lambda: peephole("none", F - F, F * 0.0), "f = "),
    "a divisor that is one less": (
        lambda: peephole("less", BYTE // DIVISOR, lambda byte, d: byte // (d - 1)),
        "byte = ",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_refused_with_values(name: str) -> None:
    make, values = WRONG[name]
    rule = make()
    with pytest.raises(IRKitError, match=f"rule '{rule.name}' is wrong") as caught:
        proved_rules(rule)
    assert values in caught.value.message
    assert caught.value.span is not None


def test_what_cannot_be_proved_says_why() -> None:
    def swap(node: Mul) -> Expr | None:
        return None

    with pytest.raises(IRKitError, match="is not proved") as caught:
        proved_rules(Rule.of(swap))
    assert "no pattern that is data" in caught.value.hint
    with pytest.raises(IRKitError, match="is not proved") as caught:
        proved_rules(peephole("never", X + Y, X, where=lambda x: isinstance(x, Const)))
    assert "no instance" in caught.value.hint
    with pytest.raises(IRKitError, match="rule 'sums' is "):
        proved_rules(peephole("sums", F + G + H, F + (G + H)))
