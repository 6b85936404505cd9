"""What is measured on this machine, so that schedules fit it.

Nothing here runs inside a build or a compilation: a user asks for a measurement, and its result is
kept as a file. Reading order: machine_table (the file), measure_machine (what fills it).
"""

from irkit.tune.machine_table import (
    MEASURED as MEASURED,
    MachineTable as MachineTable,
    fingerprint as fingerprint,
    machine_here as machine_here,
    read_table as read_table,
    table_path as table_path,
    write_table as write_table,
)
from irkit.tune.measure_machine import (
    measure_machine as measure_machine,
)
