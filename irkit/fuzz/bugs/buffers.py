"""Bugs in the primitives that copy parts of buffers and say where they lie."""

from irkit.fuzz.bugs.planted import Planted

BUFFERS = (
    Planted(
        "a part that is not copied in, though its loop goes on from it",
        "irkit.schedule.staging:_Stage",
        "if not self.stores or not self._is_filled(box):",
        "if not self.stores:",
        ("stage-mem",),
        "STAGE",
    ),
    Planted(
        "a part that is not copied back",
        "irkit.schedule.staging:_Stage",
        "            parts.append(self._copy(names[-1], self.new, self.buffer, box, span))\n",
        "",
        ("stage-mem",),
        "STAGE",
    ),
    Planted(
        "a copy by axes that is made before what it copies",
        "irkit.schedule.reindex:_Copy",
        "parts = (changed, copied) if written else (copied, changed)",
        "parts = (copied, changed)",
        ("reindex-cache-write",),
        "BY_AXES",
    ),
    Planted(
        "a copy by axes with room for one too few",
        "irkit.schedule.reindex:_Copy",
        "return const(box.high + 1, item.dtype)",
        "return const(box.high, item.dtype)",
        ("reindex-cache-write",),
        "BY_AXES",
    ),
    Planted(
        "an aligned buffer whose outer rows lie where they did",
        "irkit.schedule.storage:storage_align",
        "    strides[:at] = _packed(old.shape, at, strides[at])\n",
        "",
        ("storage-align",),
        "STORE",
    ),
    Planted(
        "an element of a window that nobody computes",
        "irkit.schedule.rolling:_Place",
        "ge(window.counter, window.size - window.step)",
        "ge(window.counter, window.size - window.step + 1)",
        ("rolling-buffer",),
        "ROLL",
    ),
    Planted(
        "a circular buffer with room for one too few",
        "irkit.schedule.rolling:_Place",
        "room = 1 << (window.size - 1).bit_length()",
        "room = window.size - 1",
        ("rolling-buffer",),
        "ROLL",
    ),
)
