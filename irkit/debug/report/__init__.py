"""Reports of what passes did.

Reading order: line_table (the line a node is printed on), summary (numbers), remarks,
unused_passes, pass_times, step_printer (IR around passes), golden_files and tables.
"""
