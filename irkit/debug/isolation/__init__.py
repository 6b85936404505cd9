"""Passes and kernels in a child process, which can crash without harm to this one.

Reading order: trace_step (IR as a step that can be sent), pass_worker (the child's side), passes,
kernels.

IR goes to the child and back by a channel whose two sides hold the tables of a trace file, so a
message is what it adds: what comes back has the very variables that were sent. The child interrupts
Python at the limit, a thread of faulthandler ends native code half a second later, and the parent
kills it after ten more. What the child answers is read as a trace file is, not believed.
"""
