"""Checks that each step of a trace keeps the meaning of the program.

Reading order: verdict, options, difference (of arrays), precision (how far floats may differ),
comparison (one step), race_search, subject (one function through its steps), graph_subject,
module_promises (what a pass over a module must keep), schedule_steps (primitives as steps), check.

Each verdict is relative to what the pass was given, so a step after a broken one is not blamed. The
interpreter runs first and names an access out of bounds; native code runs in this process only
where the interpreter accepted the same call, and is compiled without contraction. Bits must agree.
Precision is asked only where a step that declares it rounds otherwise: the original function is
rewritten into variants in f64, with magnitudes, and counting roundings. A primitive of a schedule
is judged as a pass is, in phase -1.
"""
