"""Comparison of two targets: the same functions on both, and the first line that differs.

Reading order: executor (what runs the code of a target), call_image, c_driver and runner_table (how
programs of other processors get their arguments, and what runs them), here, compiled, webassembly
and opencl (the executors), find_executor; store_log (a function that tells what each line stores),
first_line, target_verdict and compare_targets.
"""

from irkit.debug.targets.compare_targets import (
    TargetComparison as TargetComparison,
    inputs_of as inputs_of,
    require_two as require_two,
)
from irkit.debug.targets.executor import (
    Legalise as Legalise,
    TargetCall as TargetCall,
    TargetExecutor as TargetExecutor,
    TargetOutcome as TargetOutcome,
)
from irkit.debug.targets.find_executor import (
    target_executor as target_executor,
)
from irkit.debug.targets.target_verdict import (
    LineDifference as LineDifference,
    TargetVerdict as TargetVerdict,
    target_table as target_table,
)
