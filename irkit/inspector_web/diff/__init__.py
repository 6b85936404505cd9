"""What changed between two texts.

Reading order: myers and lcs (the longest common subsequence, exact), line_diff (hunks),
up_to_names (where a renaming is no change), diff_slide (where a hunk begins), line_pairs (which
line became which, and its changed words), rows (two columns or one, folded), terminal (coloured,
for ``irkit diff``).
"""
