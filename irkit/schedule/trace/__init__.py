"""A schedule as data: schedule_trace (steps; Python and JSON), encoder (arguments to data and
back), listing (an error with its line marked), differential_check (results before and after), and
traced_schedule, which records, checks and undoes each primitive."""
