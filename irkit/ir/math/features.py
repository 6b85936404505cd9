"""What the processor of a target computes in one instruction."""

import msgspec

from irkit.core import Target

_FUSE = ("aarch64", "arm64", "amdgcn", "nvptx")
"""Architectures all of whose processors round a sum of a product once."""


class MathFeatures(msgspec.Struct, frozen=True):
    """What a target computes in one instruction: ``fuses`` the sum of a product, rounded once,
    ``scales`` the product by a power of 2."""

    fuses: bool = True
    scales: bool = False


def math_features(target: Target) -> MathFeatures:
    """Return what a target computes in one instruction; its features are those that it names.

    C source has no products by powers of 2 in vectors.
    """
    if target.kind == "c":
        return MathFeatures("+fma" in target.features, scales=False)
    fuses = "+fma" in target.features or target.triple.startswith(_FUSE)
    return MathFeatures(fuses, "+avx512vl" in target.features)
