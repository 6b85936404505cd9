"""Programs with what a pass looks for, as far as its source tells.

Reading order: match_patterns (patterns in ``match`` statements), aim (what a pass is about),
own_passes (the passes of irkit), instances (expressions that match), opportunities (loop nests in
which passes find something to do), aimed_programs.
"""
