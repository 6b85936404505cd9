"""The printed text of a trace: every line has a number, and a text is an array of numbers.

Reading order: lines (the table of numbers), state_names (the names in each state of a function),
texts (the text of every step, printed on demand), highlight (lines as HTML).

Names are chosen in the order of the steps, from a table for each function, so a text does not
depend on what was looked at before. Search and blame look at distinct lines, then count numbers.
"""
