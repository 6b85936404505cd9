"""The module as it was last printed, while a dump is read: each of its parts, and those of
loops."""

from collections import defaultdict

import msgspec

from irkit.core import IRModule
from irkit.inspector_web.dumps.dump import Dumped
from irkit.inspector_web.dumps.parts import Parts, parts_of
from irkit.inspector_web.text.dump_text import TextFunction
from irkit.transform import IR


class Printed(msgspec.Struct, frozen=True):
    """What was printed, with its text in parts. ``event.function`` is known even if the compiler
    did not name it."""

    event: Dumped
    parts: Parts

    @property
    def own(self) -> str:
        """Return the text of the function that it is about."""
        return self.parts.texts.get(self.event.function, "")

    def with_text(self, text: str) -> "Printed":
        """Return the same with another text of the function."""
        parts = Parts({self.event.function: text}, whole=False)
        return msgspec.structs.replace(self, parts=parts)


def printed(event: Dumped) -> Printed:
    """Split the text of what was printed, and find the function that it is about."""
    text = event.text or ""
    if event.inside:
        return Printed(event, Parts({event.function: text.strip("\n")}, whole=False))
    parts = parts_of(event.language, text)
    name = event.function
    if not name and not parts.whole and len(parts.functions) == 1:
        (name,) = parts.functions
    if name and not (parts.whole and name in parts.texts):
        parts = Parts({name: text.strip("\n")}, whole=False)
    return Printed(msgspec.structs.replace(event, function=name), parts)


class DumpState:
    """The parts of the module as they were last printed.

    ``was_stale`` after ``read`` if the IR before could be out of date: only a part of the function,
    or only functions of the module, was printed since.
    """

    def __init__(self) -> None:
        self.parts: dict[str, TextFunction] = {}
        self.was_stale = False
        self._stale: set[str] = set()
        self._loops: dict[str, dict[str, TextFunction]] = defaultdict(dict)
        self._module: IRModule | None = None

    def known(self, event: Dumped) -> IR | None:
        """Return the IR of a pass that changed nothing, as it is known."""
        if event.function:
            return self.parts.get(event.inside or event.function)
        return self._module

    def read(self, item: Printed) -> tuple[str, IR | None, IR]:
        """Take in what was printed; return the function that it is about, the IR of it that was
        known before, and the IR now."""
        event = item.event
        if event.inside:
            self.was_stale = False
            return self._read_loop(item)
        self.was_stale = event.function in self._stale
        self._stale.discard(event.function)
        if not event.function:
            return self._read_module(item)
        if not item.parts.whole:
            return self._read_function(item)
        # The whole module was printed, for a pass on one function of it.
        if not self.parts:
            now = self._read_module(item)[2]
            assert isinstance(now, IRModule)
            return event.function, None, now[event.function]
        return (self._read_module if self._differs_elsewhere(item) else self._read_function)(item)

    def _differs_elsewhere(self, item: Printed) -> bool:
        texts, name = item.parts.texts, item.event.function
        return set(texts) != {*self.parts, name} or any(
            self.parts[each].text != text for each, text in texts.items() if each != name
        )

    def _made(self, name: str, text: str, language: str) -> TextFunction:
        old = self.parts.get(name)
        if old is not None and (old.text, old.language) == (text, language):
            return old
        self._loops.pop(name, None)  # What was known of its loops is out of date.
        return TextFunction(name, language, text)

    def _read_function(self, item: Printed) -> tuple[str, IR | None, IR]:
        name = item.event.function
        before, now = self.parts.get(name), self._made(name, item.own, item.event.language)
        self.parts[name] = now
        if now is not before and not item.parts.whole:
            self._stale.add("")
        if self._module is not None and name in self._module.functions:
            self._module = self._module.with_functions({name: now})
        return name, before, now

    def _read_loop(self, item: Printed) -> tuple[str, IR | None, IR]:
        name, around = item.event.function, item.event.inside
        known = self._loops[around]
        before = known.get(name)
        if before is not None and before.text == item.own:
            return name, before, before
        now = known[name] = TextFunction(name, item.event.language, item.own)
        self._stale.add(around)
        return name, before, now

    def _read_module(self, item: Printed) -> tuple[str, IR | None, IR]:
        language, texts = item.event.language, item.parts.texts
        made = {name: self._made(name, text, language) for name, text in texts.items()}
        now = IRModule(made)
        if not item.parts.whole:
            return self._read_some(made)
        before = self._module
        if before is None and set(self.parts) & set(made):
            before = IRModule({name: self.parts.get(name, func) for name, func in made.items()})
        if before is not None and _is_same(before, now):
            now = before
        self._module, self.parts = now, made
        self._stale.clear()
        return "", before, now

    def _read_some(self, made: dict[str, TextFunction]) -> tuple[str, IR | None, IR]:
        """Take in some functions of the module, such as those that call each other."""
        now = IRModule(made)
        old = IRModule({name: self.parts.get(name, func) for name, func in made.items()})
        is_known = any(name in self.parts for name in made)
        self.parts.update(made)
        self._stale.difference_update(made)
        if self._module is not None:
            self._module = self._module.with_functions(made)
        return "", old if is_known else None, old if _is_same(old, now) else now


def _is_same(left: IRModule, right: IRModule) -> bool:
    old, new = list(left.functions.items()), list(right.functions.items())
    return len(old) == len(new) and all(
        a == b and f is g for (a, f), (b, g) in zip(old, new, strict=True)
    )
