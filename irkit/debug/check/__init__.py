"""Checks that each step of a trace keeps the meaning of the program.

Reading order: verdict, options, difference (arrays compared), precision (how far floats may
differ), subject (one function through its steps), graph_subject, schedule_steps (primitives as
steps), check.

Each verdict is relative to what the pass was given, so a step after a broken one is not blamed. The
interpreter runs first and names an access out of bounds; native code runs in this process only
where the interpreter accepted the same call, and is compiled without contraction. Precision is
asked only where bits differ: the function is rewritten into twins in f64, with magnitudes, and
counting roundings. A primitive of a schedule is judged as a pass is, in phase -1.
"""
