"""Bugs in the primitives that copy parts of buffers and place them in memory."""

from irkit.fuzz.mutation.seeded_bugs.seeded_bug import SeededBug

BUFFER_PRIMITIVES = (
    SeededBug(
        "a part that is not copied in, though its loop goes on from it",
        "irkit.schedule.rewrite.staged_copy:StagedCopy",
        "if not self.stores or not self._is_filled(box):",
        "if not self.stores:",
        ("stage-mem",),
        "STAGE",
    ),
    SeededBug(
        "a part that is not copied back",
        "irkit.schedule.rewrite.staged_copy:StagedCopy",
        "            parts.append(self._copy(names[-1], self.new, self.buffer, box, span))\n",
        "",
        ("stage-mem",),
        "STAGE",
    ),
    SeededBug(
        "a copy by axes that is made before what it copies",
        "irkit.schedule.primitives.buffers.reindex:_ReindexedCopy",
        "parts = (changed, copied) if written else (copied, changed)",
        "parts = (copied, changed)",
        ("reindex-cache-write",),
        "BY_AXES",
    ),
    SeededBug(
        "a copy by axes with room for one too few",
        "irkit.schedule.primitives.buffers.reindex:_ReindexedCopy",
        "return const(box.high + 1, item.dtype)",
        "return const(box.high, item.dtype)",
        ("reindex-cache-write",),
        "BY_AXES",
    ),
    SeededBug(
        "an aligned buffer whose outer rows lie where they did",
        "irkit.schedule.primitives.buffers.storage_align:storage_align",
        "    strides[:at] = _packed(old.shape, at, strides[at])\n",
        "",
        ("storage-align",),
        "STORE",
    ),
    SeededBug(
        "an element of a window that nobody computes",
        "irkit.schedule.primitives.buffers.rolling_buffer:_RollingBuffer",
        "ge(window.counter, window.size - window.step)",
        "ge(window.counter, window.size - window.step + 1)",
        ("rolling-buffer",),
        "ROLL",
    ),
    SeededBug(
        "a circular buffer with room for one too few",
        "irkit.schedule.primitives.buffers.rolling_buffer:_RollingBuffer",
        "room = 1 << (window.size - 1).bit_length()",
        "room = window.size - 1",
        ("rolling-buffer",),
        "ROLL",
    ),
)
