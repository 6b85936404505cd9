"""Child processes with limits of time and memory.

There are two, and both end with their parent. A :class:`Child` is a process that calls functions by
name, one after another: it starts anywhere, also beside threads; on Linux a server forks it, which
has irkit imported, in milliseconds. :func:`run_in_fork` runs a function in a copy of this process,
so what was changed in this process is changed there too. Either way a call that crashes, hangs or
grows is a :class:`ChildDied`, with the last :func:`report` of the child.

Reading order: limits, timeout (interrupt Python), tracebacks (cut to what matters), messages
(between the two sides), child_main (the child's side), fork_server (which forks children, as its
owner sees it), fork_server_main, child (the parent's side), fork; worker_forks (a list of work in
several forks); regex, dask_executor (the workers of a cluster).
"""

from irkit.processes.child import (
    Child as Child,
    RemoteTraceback as RemoteTraceback,
    isolate as isolate,
)
from irkit.processes.dask_executor import (
    ClusterExecutor as ClusterExecutor,
    WorkerLost as WorkerLost,
    is_lost as is_lost,
)
from irkit.processes.fork import (
    run_in_fork as run_in_fork,
)
from irkit.processes.fork_server import (
    prepare_forks as prepare_forks,
)
from irkit.processes.limits import (
    ONE_THREAD as ONE_THREAD,
    ChildDied as ChildDied,
    Death as Death,
    Limits as Limits,
    death_text as death_text,
    half_of_memory as half_of_memory,
    signal_name as signal_name,
)
from irkit.processes.messages import (
    report as report,
)
from irkit.processes.regex import (
    matching_lines as matching_lines,
)
from irkit.processes.timeout import (
    TimeUp as TimeUp,
    can_interrupt as can_interrupt,
    timeout as timeout,
)
from irkit.processes.tracebacks import (
    dumped_traceback as dumped_traceback,
    traceback_inside as traceback_inside,
)
from irkit.processes.worker_forks import (
    can_fork as can_fork,
    compile_jobs as compile_jobs,
    side_by_side as side_by_side,
)
