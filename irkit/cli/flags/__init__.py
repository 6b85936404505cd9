"""Options that several verbs share, and what their values are read into.

Reading order: files, placement (``--pass`` and ``--disable-pass``), print_flags
(``--print-ir-after`` and its kind), isolation_flags, schedule_flag, check_flags (inputs and sizes).
"""
