"""A recorder that finds the line which reported a rewrite."""

import inspect

from irkit.core import Node, Recorder, Span


class CallerSpanRecorder(Recorder):
    """A recorder that uses the caller's line for rewrites whose rule has no span."""

    def allows(self, rule: str, before: Node, after: Node, span: Span | None = None) -> bool:
        frame = inspect.currentframe()
        while span is None and frame is not None:
            # Skip the frames between the rule and this recorder.
            if not frame.f_globals.get("__name__", "").startswith(("irkit.core", __name__)):
                span = Span("python", rule, frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return super().allows(rule, before, after, span)
