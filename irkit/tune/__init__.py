"""Schedules by measurement: what is known of this machine, and searches for faster schedules.

Nothing here runs inside a build or a compilation: a user asks for a measurement, and its result is
kept as a file.

Reading order: machine_table (the file), measure_machine (what fills it); records (files of what
searches found), templates (schedules with knobs), cost (formulas and a learned model), space (what
can be decided), measure (processes that build and race candidates), search.
"""

from irkit.tune.cost import (
    Residual as Residual,
    rank_correlation as rank_correlation,
)
from irkit.tune.machine_table import (
    MEASURED as MEASURED,
    MachineTable as MachineTable,
    fingerprint as fingerprint,
    machine_here as machine_here,
    read_table as read_table,
    table_path as table_path,
    write_table as write_table,
)
from irkit.tune.measure import (
    Bench as Bench,
    BenchSettings as BenchSettings,
    Distributed as Distributed,
    Local as Local,
    Measure as Measure,
    Replay as Replay,
    Session as Session,
    TrialOutcome as TrialOutcome,
)
from irkit.tune.measure_machine import (
    measure_machine as measure_machine,
)
from irkit.tune.records import (
    SCHEMA as SCHEMA,
    CandidateOrigin as CandidateOrigin,
    Chosen as Chosen,
    MachineHere as MachineHere,
    Measured as Measured,
    Record as Record,
    RecordFile as RecordFile,
    Records as Records,
    TaskLine as TaskLine,
    as_autotvm as as_autotvm,
    best_of as best_of,
    chosen_schedules as chosen_schedules,
    merge_records as merge_records,
    read_auto_scheduler as read_auto_scheduler,
    read_autotvm as read_autotvm,
    read_records as read_records,
    record_id as record_id,
)
from irkit.tune.search import (
    Callback as Callback,
    TuneProgress as TuneProgress,
    TuneResult as TuneResult,
    Verified as Verified,
    loops_of_task as loops_of_task,
    tune as tune,
    tune_all as tune_all,
    tuning_page as tuning_page,
    verify_records as verify_records,
)
from irkit.tune.space import (
    RuleSpace as RuleSpace,
    Space as Space,
    Task as Task,
    TemplateSpace as TemplateSpace,
    TraceSpace as TraceSpace,
    hash_of as hash_of,
    resumed_task as resumed_task,
    task as task,
)
from irkit.tune.templates import (
    Config as Config,
    Template as Template,
    load_template as load_template,
    template as template,
)
