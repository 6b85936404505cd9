"""A recorder that finds out which line reported an application."""

import inspect

from irkit.core import Node, Recorder, Span


class CallerSpanRecorder(Recorder):
    """Know the line which reported an application, where its rule has none of its own."""

    def allows(self, rule: str, before: Node, after: Node, span: Span | None = None) -> bool:
        frame = inspect.currentframe()
        while span is None and frame is not None:
            # The machinery between the rule and this recorder is not what one wants to see.
            if not frame.f_globals.get("__name__", "").startswith(("irkit.core", __name__)):
                span = Span("python", rule, frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return super().allows(rule, before, after, span)
