"""Specifications of the inputs of a module, with the names of TVM's ``nn.spec``."""

from collections.abc import Sequence

from irkit.core import DTypeError
from irkit.graph import TensorType
from irkit.ir import DType, Expr, Var, as_dtype, const, index


def Tensor(shape: Sequence["int | str | Expr"], dtype: DType | str = "f32") -> TensorType:
    """Return the type of an input; a text among the extents is a symbolic dimension of that name.

    Within one ``export`` the same name is the same dimension.
    """
    return TensorType(tuple(_extent(each) for each in shape), as_dtype(dtype))


def _extent(given: "int | str | Expr") -> Expr:
    if isinstance(given, str):
        if not given:
            raise DTypeError("a symbolic dimension needs a name")
        return Var(given)
    return const(given, "i64") if isinstance(given, int) else index(given)
