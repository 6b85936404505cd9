"""What changed between two texts.

Reading order: myers and lcs (the longest common subsequence), line_diff (hunks), up_to_names (a
comparison that ignores renamings), diff_slide (where a hunk begins), line_pairs (which line became
which, and its changed words), rows (two columns or one, folded), terminal (coloured, for
``irkit diff``).

``lcs`` is exact: common ends and lines of one side only are set aside; then rapidfuzz for small
texts, Myers' greedy search, or a band around the diagonal. Beyond 2**31 cells texts are cut at
unique lines, and the result says that it may not be the smallest.
"""
