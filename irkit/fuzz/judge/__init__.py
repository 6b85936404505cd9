"""Is a sample right? Run it in several ways, which must agree.

The tiers are NumPy, the interpreter on the program as drawn and as lowered, and native code at O0
and at O3 from one LLVM text. The fast way verifies once, at the end; one case in ten, and each that
fails, also runs after each pass, which names the guilty one. Arrays end, and in a second call
begin, at guard pages; a kernel is called by its address, because the stub would take as long to
compile as the kernel at O0.

Reading order: outcome, progress, agreement, loops, memory_plan, models, files (malformed ones),
checked_bounds, invariants, subsystems (parts of irkit with a check of their own), judge.
"""

from irkit.fuzz.judge.files.compare_outputs import (
    check_model as check_model,
)
from irkit.fuzz.judge.files.input_verdict import (
    FileStatus as FileStatus,
    InputVerdict as InputVerdict,
    verdict_of as verdict_of,
)
from irkit.fuzz.judge.files.read_text import (
    read_text as read_text,
)
from irkit.fuzz.judge.files.run_model import (
    run_model as run_model,
)
from irkit.fuzz.judge.invariants import (
    INVARIANTS as INVARIANTS,
)
from irkit.fuzz.judge.judge import (
    judge as judge,
)
from irkit.fuzz.judge.outcome import (
    Outcome as Outcome,
)
from irkit.fuzz.judge.subsystems.table import (
    SUBSYSTEMS as SUBSYSTEMS,
    missing_for as missing_for,
)
