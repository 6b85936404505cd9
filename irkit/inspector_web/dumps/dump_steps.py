"""From what a compiler printed to steps: the IR before a pass is what was last known before it.

A dump of the IR after passes only does not say what the first pass on a function changed; such a
step changes nothing and has a remark that says so.
"""

from collections.abc import Sequence

import msgspec

from irkit.core import IRModule, Remark
from irkit.inspector_web.dumps.dump import Dumped
from irkit.inspector_web.dumps.dump_state import DumpState, Printed, printed
from irkit.inspector_web.text.dump_text import TEXT_LEVEL
from irkit.transform import IR, Step

UNKNOWN = "What this pass changed is not known: the dump has no IR of {} from before it."
STALE = (
    "The dump has only a part of {} after some earlier passes, so this difference can include what "
    "they changed."
)
NO_AFTER = "What this pass changed is not known: the dump has no IR after it."


class DumpSteps:
    """The steps of a dump; ``failed`` is what was printed about a pass that failed, with its IR."""

    def __init__(self, events: Sequence[Dumped]) -> None:
        self.steps: list[Step] = []
        self.failed: tuple[Dumped, IR] | None = None
        self._state = DumpState()
        items = [printed(event) for event in events]
        afters = _afters(items)
        for at, item in enumerate(items):
            self._add(item, afters.get(at))

    def _add(self, item: Printed, after: "_After | None") -> None:
        event, state = item.event, self._state
        if event.text is None:
            known = state.known(event)
            if known is not None:
                self._keep(event, known, known)
            return
        function, before, now = state.read(item)
        if event.failed:
            self.failed = event, now
        elif event.side == "after":
            remark = ""
            if before is None:
                remark = UNKNOWN.format(function or "the module")
            elif state.was_stale and now is not before:
                remark = STALE.format(function or "the module")
            self._keep(event, now if before is None else before, now, remark)
        elif after is not None:
            made = None if after.next is None else state.read(after.next)[2]
            remark = NO_AFTER if made is None and not after.is_same else ""
            self._keep(event, now, now if made is None else made, remark)

    def _keep(self, event: Dumped, before: IR, after: IR, remark: str = "") -> None:
        if event.failed:
            self.failed = event, before
            return
        node = before
        if isinstance(node, IRModule):
            node = next(iter(node.functions.values()), None)
        told = () if not remark or node is None else (Remark(node, remark),)
        made = Step(
            len(self.steps),
            TEXT_LEVEL,
            event.phase,
            event.phase_name,
            event.name,
            event.label or event.name,
            {},
            "" if isinstance(after, IRModule) else after.name,
            before,
            after,
            event.ms / 1e3,
            remarks=told,
        )
        self.steps.append(made)


class _After(msgspec.Struct, frozen=True):
    """What is known of the IR after a pass, if it was printed before the pass only: what was
    printed ``next`` of the same functions, or else whether nothing changed."""

    next: Printed | None
    is_same: bool


def _afters(items: Sequence[Printed]) -> dict[int, _After]:
    """Find the passes before which IR was printed, but none after them."""
    lone = _lone(items)
    has_afters = any(item.event.side == "after" for item in items)
    found: dict[int, _After] = {}
    following = _Following()
    for at in range(len(items) - 1, -1, -1):
        item = items[at]
        if at in lone:
            found[at] = _After(following.after(item), has_afters)
        following.put(item)
    return found


def _lone(items: Sequence[Printed]) -> set[int]:
    waiting: dict[tuple[str, str], list[int]] = {}
    for at, item in enumerate(items):
        places = waiting.setdefault((item.event.name, item.event.function), [])
        if item.event.side == "before":
            places.append(at)
        elif item.event.side == "after" and places:
            places.pop()
    return {at for places in waiting.values() for at in places}


class _Following:
    """What is printed next of each function, before a pass; kept while the dump is read
    backwards."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.order: list[str] | None = None

    def put(self, item: Printed) -> None:
        """Take in what was printed."""
        texts, event = item.parts.texts, item.event
        if event.side == "after":
            for name in [event.function] if event.function else list(self.texts):
                self.texts.pop(name, None)
            self.order = self.order if event.function else None
        elif event.function:
            self.texts[event.function] = item.own
        elif item.parts.whole:
            self.texts, self.order = dict(texts), list(texts)
        else:
            self.texts.update(texts)

    def after(self, item: Printed) -> Printed | None:
        """Return the same functions as they are printed next."""
        function, parts = item.event.function, item.parts
        if function:
            text = self.texts.get(function)
            return None if text is None else item.with_text(text)
        if not any(name in self.texts for name in parts.texts):
            return None
        names = parts.texts if self.order is None or not parts.whole else self.order
        known = {name: self.texts.get(name, parts.texts.get(name, "")) for name in names}
        return msgspec.structs.replace(item, parts=msgspec.structs.replace(parts, texts=known))
