"""Choose how many columns of a matrix to lay out in a panel, before there are loops."""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products.plan import panels_of
from irkit.autoschedule.products.recognise import Factor, MatrixProduct
from irkit.ir import Axis, Block, Buffer, DType, Expr, Load, Store, Var, const, index


def panel_width(rows: int, columns: int, steps: int, dtype: DType, machine: Machine) -> int:
    """Return the width of the panels of the plan with the fewest estimated cycles.

    Units: rows, columns and steps of the product; the result is in columns, a multiple of the lanes
    of a vector. A panel may be wider than the columns: the others hold 0.
    """
    lanes = max(1, machine.vector_bytes // dtype.bytes)
    if columns <= lanes:
        return lanes
    found: list[tuple[float, int]] = []
    for vectors in range(1, -(-columns // lanes) + 1):
        product = _product(rows, columns, steps, dtype, vectors * lanes)
        plans = [
            plan.cycles for plan in panels_of(product, machine) if plan.columns == vectors * lanes
        ]
        if not plans:
            break
        found.append((min(plans), vectors * lanes))
    return min(found)[1] if found else lanes


def _product(rows: int, columns: int, steps: int, dtype: DType, width: int) -> MatrixProduct:
    """Return a product of rows by panels of so many columns."""
    m, n, k = (Var(name, index(0).dtype) for name in "mnk")
    a = Buffer("a", _shape(rows, steps), dtype)
    b = Buffer("b", _shape(-(-columns // width), steps, width), dtype)
    c = Buffer("c", _shape(rows, columns), dtype)
    tall, wide = a[m, k], b[n // width, k, n % width]
    assert isinstance(tall, Load)
    assert isinstance(wide, Load)
    store = Store(c, (m, n), c[m, n] + tall * wide)
    axes = (
        Axis(m, index(rows), m, "spatial"),
        Axis(n, index(columns), n, "spatial"),
        Axis(k, index(steps), k, "reduce"),
    )
    block = Block("product", axes, store, Store(c, (m, n), const(0, dtype)))
    row = axes[0] if rows > 1 else None
    return MatrixProduct(
        block, store, row, axes[1], axes[2], Factor(tall, {}), Factor(wide, {}), {}
    )


def _shape(*extents: int) -> tuple[Expr, ...]:
    return tuple(map(index, extents))
