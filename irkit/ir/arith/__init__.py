"""Integer arithmetic of the loop IR: constant folding, ranges, and simplest forms.

Reading order: fold (constants); interval, transfer (the range of each operation), bounds,
ranges (of loop variables); then sums (sums over a table of atoms, on which the rest is built),
emit, division, knowledge, comparison, claims (what a proof is asked), simplify; linear_form is a
short interface to it.

Sums are dictionaries over numbered atoms, so equal ones are found without comparing trees; a vector
is a sum with the atom LANE, so ramps need no rules of their own. Addition and multiplication wrap
around and may always be rearranged. A rule below ``//``, ``%`` or a comparison needs a proof from
ranges that the sum is exact. With symbolic extents that proof comes from the shape of the loop:
``(n + 15) // 16`` leaves room for ``i * 16 + j``, a bare ``n`` does not.
"""

from irkit.ir.arith.bounds import (
    bounds as bounds,
)
from irkit.ir.arith.claims import (
    Claim as Claim,
    claim_of as claim_of,
    recording_claims as recording_claims,
)
from irkit.ir.arith.fold import (
    fold as fold,
)
from irkit.ir.arith.interval import (
    Interval as Interval,
    Ranges as Ranges,
)
from irkit.ir.arith.linear_form import (
    IndexSums as IndexSums,
    LinearForm as LinearForm,
    equal_sums as equal_sums,
    linear as linear,
)
from irkit.ir.arith.ranges import (
    loop_ranges as loop_ranges,
)
from irkit.ir.arith.simplify import (
    Simplification as Simplification,
    prove as prove,
    simplify as simplify,
)
from irkit.ir.arith.sums import (
    Product as Product,
    Sum as Sum,
)
