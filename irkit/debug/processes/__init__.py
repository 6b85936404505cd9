"""A child process with limits of time and memory. Reading order: timeout (interrupt Python),
traceback_of_pass, child (the parent's side, and the messages), child_main (the side of the
child), isolated_call (one call in a process of its own)."""
