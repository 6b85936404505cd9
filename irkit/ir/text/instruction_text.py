"""Instructions as text: the meaning as a function whose attributes are the other fields.

Such a text holds code, and is trusted like a program: it is read by ``parse_instruction`` only.
"""

from irkit.core import IRKitError
from irkit.ir.instructions import Instruction
from irkit.ir.text.printer import script
from irkit.ir.text.reader import parse

_FIELDS = ("instruction", "llvm", "arch", "features", "c")


def instruction_text(row: Instruction) -> str:
    """Return the text of an instruction, which ``parse_instruction`` reads."""
    values = (row.name, row.llvm, row.arch, row.features, row.c)
    attrs = (*row.meaning.attrs, *zip(_FIELDS, values, strict=True))
    if row.scopes:
        attrs = (*attrs, ("scopes", row.scopes))
    if row.threads != 1:
        attrs = (*attrs, ("threads", row.threads))
    return script(row.meaning.replace(attrs=attrs))


def parse_instruction(text: str) -> Instruction:
    """Read an instruction, which ``define_instruction`` can then make known.

    Raises: IRKitError if the text is none.
    """
    func = parse(text)
    attrs = dict(func.attrs)
    values = [attrs.pop(field, None) for field in _FIELDS]
    name, llvm, arch, features, c = values
    scopes, threads = attrs.pop("scopes", ()), attrs.pop("threads", 1)
    words = features if isinstance(features, tuple) else None
    wanted = scopes if isinstance(scopes, tuple) else (None,)
    named = [name, llvm, arch, c, *(words or ()), *wanted]
    if words is None or not all(isinstance(value, str) for value in named):
        raise IRKitError(
            f"this text is no instruction: expected a loop function with the attributes "
            f"{', '.join(_FIELDS)}, found {', '.join(dict(func.attrs)) or 'none'}"
        )
    meaning = func.replace(attrs=tuple(attrs.items()))
    return Instruction(
        str(name),
        meaning,
        str(llvm),
        str(arch),
        tuple(str(word) for word in words),
        str(c),
        tuple(str(scope) for scope in wanted),
        threads if type(threads) is int else 0,
    )
