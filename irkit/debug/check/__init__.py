"""Does each step of a trace keep the meaning of the program? Reading order: verdict, options,
difference (arrays compared), precision (how far floats may be apart), subject (one function
through its steps), graph_subject, schedule_steps (primitives as steps), check."""
