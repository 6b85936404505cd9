"""What a relocation writes.

Source: System V ABI, AMD64 supplement, section 4.4 (relocation).
"""

from irkit.core import IRKitError

_ADDRESS_64, _RELATIVE_32, _CALL_32, _RELATIVE_64 = 1, 2, 4, 24
_ADDRESS_32, _SIGNED_32 = 10, 11
_SLOTS = (9, 41, 42)
"""Kinds that are about the slot which holds an address, not about the address."""


def needs_slot(kind: int) -> bool:
    """Return True if a relocation is about a slot that holds the address of its symbol."""
    return kind in _SLOTS


def is_relative(kind: int) -> bool:
    """Return True if a relocation can reach only what is within 2 GiB of its place."""
    return kind in (_RELATIVE_32, _CALL_32, *_SLOTS)


def relocated(kind: int, target: int, addend: int, place: int) -> bytes:
    """Return what a relocation writes at the address ``place``; ``target`` is the address of its
    symbol, or of the slot.

    Raises: IRKitError for a kind that is not known, or an address that does not fit.
    """
    if kind in (_ADDRESS_64, _RELATIVE_64):
        value = target + addend - (place if kind == _RELATIVE_64 else 0)
        return (value & (1 << 64) - 1).to_bytes(8, "little")
    if is_relative(kind):
        value = target + addend - place
        signed = True
    elif kind in (_ADDRESS_32, _SIGNED_32):
        value, signed = target + addend, kind == _SIGNED_32
    else:
        raise IRKitError(f"an object file has a relocation of kind {kind}, which is not known here")
    try:
        return value.to_bytes(4, "little", signed=signed)
    except OverflowError:
        raise IRKitError(f"a relocation of kind {kind} cannot reach {target:#x}") from None
