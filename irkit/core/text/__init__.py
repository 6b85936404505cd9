"""Text that every level shares: names, tokens, excerpts and the console.

Reading order: names (printed names, one table per trace), tokens (lines cut into tokens and
coloured), show (on a terminal and in a notebook), excerpt (the lines around a problem, with the
message below them), console.
"""
