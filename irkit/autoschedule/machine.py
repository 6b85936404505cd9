"""The sizes of a processor that a schedule depends on, as data: nothing is measured here."""

import math
from typing import Any

import msgspec

from irkit.core import IRKitError, Target

_VECTORS = (("+avx512f", 64, 32), ("+avx2", 32, 16), ("+neon", 16, 32))
"""Features that decide the size and the number of vector registers, the best first."""
_PLAIN = (16, 16)
_INSTRUCTIONS = (
    "avx512vl",
    "avx512vnni",
    "avxvnni",
    "avx512bf16",
    "avx512fp16",
    "amx-int8",
    "amx-bf16",
)
"""Features with instructions that a schedule may choose."""

_ROUNDED = ("l1", "l2", "l3", "latency", "multiplied", "loaded", "near", "far", "streamed")
_WORDS = "features"
"""The field that the options of a pass hold as words in one text."""


class Machine(msgspec.Struct, frozen=True):
    """What the automatic schedule knows about a processor.

    Units: ``vector_bytes`` is the size of a vector register in bytes, ``l1``, ``l2`` and ``l3`` are
    the sizes of the data caches in bytes (a core's own, a core's own, the shared one).
    ``features`` are names of LLVM features without a sign, such as ``avx512vnni``. The others are
    costs, in cycles: a sum waits ``latency`` for itself, ``multiplied`` multiplications and
    ``loaded`` loads of a vector start in one, and a vector comes from the second or the third cache
    in ``near`` or ``far``, while others are fetched. A line of 64 bytes comes from memory in
    ``streamed``, where lines are read one after another.

    Sizes of caches and costs are rounded to a power of two or one and a half times a power of two:
    what two measurements differ by must not change a schedule.
    """

    vector_bytes: int = 64
    vector_registers: int = 32
    l1: int = 32 << 10
    l2: int = 1 << 20
    l3: int = 16 << 20
    latency: float = 4.0
    multiplied: float = 2.0
    loaded: float = 2.0
    near: float = 0.25
    far: float = 1.5
    streamed: float = 12.0
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _ROUNDED:
            given = getattr(self, name)
            if not given > 0 or not math.isfinite(given):
                raise IRKitError(f"{name} of a machine is {given!r}; expected more than 0")
            rounded = _rounded(given)
            value = int(rounded) if isinstance(given, int) else rounded
            msgspec.structs.force_setattr(self, name, value)

    @classmethod
    def with_vectors(cls, vector_bytes: int) -> "Machine":
        """Return a machine of common sizes with vector registers of so many bytes."""
        return cls(vector_bytes=vector_bytes, vector_registers=32 if vector_bytes >= 64 else 16)

    def having(self, settings: tuple[tuple[str, Any], ...]) -> "Machine":
        """Return a machine with other fields, as :attr:`settings` has them.

        Raises: IRKitError as :meth:`of_settings` does.
        """
        return Machine.of_settings(tuple({**dict(self.settings), **dict(settings)}.items()))

    @classmethod
    def of_target(cls, target: Target) -> "Machine":
        """Return the machine of a complete target: its vectors, instructions and caches.

        Caches have the common sizes where the table of targets does not know the processor.
        """
        row = target.row
        # Longer vectors are those of a feature, which may be switched off.
        plain = row is not None and row.vector_bytes <= _PLAIN[0]
        size, count = (row.vector_bytes, row.vector_registers) if row and plain else _PLAIN
        for feature, size_here, count_here in _VECTORS:
            if feature in target.features:
                size, count = size_here, count_here
                break
        features = tuple(name for name in _INSTRUCTIONS if f"+{name}" in target.features)
        common = cls(vector_bytes=size, vector_registers=count, features=features)
        if row is None:
            return common
        return msgspec.structs.replace(common, l1=row.l1, l2=row.l2, l3=row.l3)

    @property
    def has_masks(self) -> bool:
        """True if masks have registers of their own, as on AVX-512."""
        return self.vector_bytes >= 64

    @property
    def settings(self) -> tuple[tuple[str, Any], ...]:
        """The fields that differ from the generic machine, as data that an option of a pass can
        hold."""
        given = ((name, getattr(self, name)) for name in self.__struct_fields__)
        changed = ((name, value) for name, value in given if value != getattr(GENERIC, name))
        return tuple((name, " ".join(v) if name == _WORDS else v) for name, v in changed)

    @classmethod
    def of_settings(cls, settings: tuple[tuple[str, Any], ...]) -> "Machine":
        """Return the machine whose :attr:`settings` these are.

        Raises: IRKitError for a field that a machine does not have, or a value of another type.
        """
        unknown = [name for name, _ in settings if name not in cls.__struct_fields__]
        if unknown:
            known = ", ".join(cls.__struct_fields__)
            raise IRKitError(f"a machine has no {unknown[0]!r}; it has: {known}")
        try:
            given = {name: v.split() if name == _WORDS else v for name, v in settings}
            return msgspec.convert(given, cls)
        except (AttributeError, msgspec.ValidationError) as error:
            raise IRKitError(f"not a machine: {error}") from None


def _rounded(value: float) -> float:
    """Return the nearest of the powers of two and one and a half times these, by ratio."""
    power = 2.0 ** math.floor(math.log2(value))
    return min((power, 1.5 * power, 2 * power), key=lambda near: abs(math.log(value / near)))


GENERIC = Machine()
"""The default: the same on every computer."""
