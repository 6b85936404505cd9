"""The printed text of a trace: every line has a number, and a text is an array of numbers.

Reading order: lines (the table of numbers), state_names (the names in each state of a function),
texts (the text of every step, printed on demand), highlight (lines as HTML).
"""
