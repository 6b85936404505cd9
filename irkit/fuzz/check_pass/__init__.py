"""Put a pass of anyone's to the test in a project of theirs: one decorator. Reading order: profile
(how much, and how), place (where the pass goes), sources (programs), examine (one program through
the lowering), case (what the body of a test sees), tally (did it test anything), corpus (what was
found, and is tried first), finding (what is said and written), check_pass."""

from irkit.fuzz.check_pass.check_pass import (
    PassCheck as PassCheck,
    check_pass as check_pass,
)
from irkit.fuzz.check_pass.finding import (
    PassRefuted as PassRefuted,
)
from irkit.fuzz.check_pass.pass_case import (
    PassCase as PassCase,
)
from irkit.fuzz.check_pass.profile import (
    PROFILES as PROFILES,
    Profile as Profile,
)
