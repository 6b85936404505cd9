"""A schedule as data.

Reading order: schedule_trace (steps, as Python and JSON), python_text (read the Python), encoder
(arguments to data and back), listing (an error with its line marked), differential_check (results
before and after), replay_memo and replay_files (what was legal before, in this process and in
earlier ones), traced_schedule (records, checks and undoes each primitive).
"""
