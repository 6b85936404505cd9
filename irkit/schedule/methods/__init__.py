"""The methods of a schedule by kind: they resolve references to statements and call primitives.

Reading order: loops, marks, blocks, buffers, storage, sampling. Each class extends TracedSchedule;
``irkit.schedule.Schedule`` is all of them.
"""
