"""The sizes of a processor that a schedule depends on, as data: nothing is measured here."""

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """What the automatic schedule knows about a processor.

    Units: ``vector_bytes`` is the size of a vector register in bytes, ``l1``, ``l2`` and ``l3`` are
    the sizes of the data caches in bytes (a core's own, a core's own, the shared one).
    ``features`` are names of LLVM features without a sign, such as ``avx512vnni``.
    """

    vector_bytes: int = 64
    vector_registers: int = 32
    l1: int = 32 << 10
    l2: int = 1 << 20
    l3: int = 16 << 20
    features: tuple[str, ...] = ()

    @classmethod
    def with_vectors(cls, vector_bytes: int) -> "Machine":
        """Return a machine of common sizes with vector registers of so many bytes."""
        return cls(vector_bytes=vector_bytes, vector_registers=32 if vector_bytes >= 64 else 16)


GENERIC = Machine()
"""The default: the same on every computer."""
