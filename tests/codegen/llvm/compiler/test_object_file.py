"""One run of LLVM gives assembly and object code that are those of two runs."""

from hypothesis import given, settings

from irkit.codegen import (
    assembly,
    assembly_and_object,
    compile_object,
    complete_target,
    emit,
    llvm_binding,
)
from irkit.core import Target
from irkit.fuzz import prim_funcs
from irkit.ir import PrimFunc
from tests.draws import few_or_all


def code_of(image: bytes) -> list[bytes]:
    """Return the sections of an object file that hold instructions or constants."""
    found = llvm_binding.ObjectFileRef.from_data(image).sections()
    return [
        each.data()
        for each in found
        if each.is_text() or (each.name() or b"").startswith(b".rodata")
    ]


@settings(max_examples=few_or_all(15, 300), deadline=None)
@given(prim_funcs())
def test_what_is_assembled_is_what_llvm_writes_itself(func: PrimFunc) -> None:
    target = complete_target(Target(opt_level=1))
    text = emit([func], target)
    listing, image = assembly_and_object(text, target)
    assert listing == assembly(text, target)
    assert code_of(image) == code_of(compile_object(text, target))
    assert any(code_of(image))
