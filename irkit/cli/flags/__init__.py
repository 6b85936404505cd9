"""Options that several verbs share, and the values they are read into.

Reading order: files, flag_values (several options as one value), placement (``--pass`` and
``--disable-pass``), print_flags (``--print-ir-after`` and the like), isolation_flags,
schedule_flag, programs (what a verb works on), check_flags (inputs and sizes), progress.
"""
