"""Write the trace files of version 2, which are still read."""

import msgspec

from irkit.transform import Trace
from irkit.transform.trace.file import MAGIC, TraceBody, Vocabulary
from irkit.transform.trace.write import Writer

MAGIC_2 = MAGIC + b"2\n"


def body_of(trace: Trace) -> TraceBody:
    writer = Writer(Vocabulary(step.level for step in trace))
    rows = [writer.step(step) for step in trace]
    return TraceBody(
        trace.title,
        dict(trace.versions),
        list(writer.classes),
        writer.values,
        writer.nodes,
        writer.modules,
        rows,
    )


def encoded(trace: Trace) -> bytes:
    return MAGIC_2 + msgspec.msgpack.encode(body_of(trace))
