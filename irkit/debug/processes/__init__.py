"""Child processes with limits of time and memory.

Reading order: timeout (interrupt Python), traceback_of_pass (cut a traceback to the pass), child
(the parent's side and the messages), child_main (the child's side), isolated_call (one call in its
own process).
"""
