"""Checks that each step of a trace keeps the meaning of the program.

Reading order: verdict, options, difference (arrays compared), precision (how far floats may
differ), subject (one function through its steps), graph_subject, schedule_steps (primitives as
steps), check.
"""
