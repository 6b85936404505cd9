""""""

import pytest

from irkit.codegen import complete_target
from irkit.core import TARGET_TABLE, IRKitError, Target, as_target


def test_the_fields_of_a_target_are_checked() -> None:
    assert as_target("llvm") == Target() == Target.host() == Target("host")
    assert Target(features="+avx2,-fma").features == ("+avx2", "-fma")  # pyright: ignore
    for wrong in ({"kind": "x"}, {"features": ("avx",)}, {"opt_level": 4}):
        with pytest.raises(IRKitError):
            Target(**wrong)  # pyright: ignore


def test_a_target_is_read_from_text_a_mapping_or_a_name() -> None:
    text = "llvm -triple=aarch64-linux-gnu -cpu=neoverse-v1 -features=+sve2,-bf16 -opt-level=1"
    fields = ("llvm", "neoverse-v1", ("+sve2", "-bf16"), "aarch64-linux-gnu", 1)
    assert Target(text) == Target(*fields)
    assert Target("llvm -mcpu=znver3 -mattr=-avx2") == Target(cpu="znver3", features=("-avx2",))
    mapping = {"kind": "llvm", "triple": "aarch64-linux-gnu", "cpu": "cortex-a53"}
    assert as_target(mapping) == Target("llvm", "cortex-a53", (), "aarch64-linux-gnu")
    pi = Target("raspberry-pi-4")
    assert (pi.kind, pi.cpu, pi.triple) == ("llvm", "cortex-a72", "aarch64-linux-gnu")
    assert as_target({"kind": "raspberry-pi-4", "opt_level": 1}) == Target(
        "raspberry-pi-4", "", (), "", 1
    )
    assert Target("rv64gcv -opt-level=2", opt_level=0).opt_level == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("rasberry-pi-4", "Did you mean 'raspberry-pi-4'"),
        ("llvm -cpuu=x", "Did you mean 'cpu'"),
        ("llvm cpu=x", "expected -name=value"),
        ({"tripel": "x"}, "Did you mean 'triple'"),
        ({"cpu": 3}, "expected text"),
        (["llvm"], "expected a target, its text or a mapping"),
        ("", "expected one of llvm, c"),
        ("llvm -opt-level=fast", "expected 0 to 3"),
    ],
)
def test_a_wrong_target_is_an_error_with_the_nearest_name(given: object, message: str) -> None:
    with pytest.raises(IRKitError, match=message):
        as_target(given)  # pyright: ignore


def test_llvm_knows_every_target_that_has_a_name() -> None:
    for row in TARGET_TABLE:
        target = complete_target(Target(row.name))
        assert target.row == row
        assert row.l1 <= row.l2
