"""What a search found out, as JSON lines that are only ever appended to.

Reading order: record (one candidate), record_file (append; read what is not damaged), foreign_logs
(logs of TVM's tuners), chosen (the winners, and which of them fit a target).
"""

from irkit.tune.records.chosen import (
    Chosen as Chosen,
    best_of as best_of,
    chosen_schedules as chosen_schedules,
)
from irkit.tune.records.foreign_logs import (
    AutoSchedulerEntry as AutoSchedulerEntry,
    AutoTVMEntry as AutoTVMEntry,
    as_autotvm as as_autotvm,
    read_auto_scheduler as read_auto_scheduler,
    read_autotvm as read_autotvm,
)
from irkit.tune.records.record import (
    SCHEMA as SCHEMA,
    Built as Built,
    CandidateOrigin as CandidateOrigin,
    MachineHere as MachineHere,
    Measured as Measured,
    Record as Record,
    TaskLine as TaskLine,
    Values as Values,
    VerdictKind as VerdictKind,
    key_of as key_of,
    record_id as record_id,
)
from irkit.tune.records.record_file import (
    RecordFile as RecordFile,
    Records as Records,
    merge_records as merge_records,
    read_records as read_records,
)
