"""A schedule as data.

Reading order: schedule_trace (steps, as Python and JSON), encoder (arguments to data and back),
listing (an error with its line marked), differential_check (results before and after),
traced_schedule (records, checks and undoes each primitive).
"""
