"""The runs on one page.

Reading order: pass_plan (the passes of a run as data, to change them and run again), pass_source
(where a pass is written), steps (the list of passes), run (a loaded trace, its run, a stage of it),
workspace (all runs, over one table of lines), align (two runs side by side).
"""
