"""Models that are compiled at the call.

Reading order: specialisation (shapes and values, and the check of inputs), specialised_model (one
compilation for each that is met), staged_model (two parts, where the shapes of the second are known
once the first has run), package_tree (packages of such models).

What compiles is a function that ``irkit.phases`` gives: this folder knows no compiler.
"""

from irkit.runtime.specialised.package_tree import (
    load as load,
    parts_of as parts_of,
    verify_package as verify_package,
)
from irkit.runtime.specialised.specialisation import (
    Specialisation as Specialisation,
)
from irkit.runtime.specialised.specialised_model import (
    DeferredModel as DeferredModel,
    Specialise as Specialise,
    SpecialisedModel as SpecialisedModel,
)
from irkit.runtime.specialised.staged_model import (
    Cut as Cut,
    StagedModel as StagedModel,
)
