"""Edited IR and schedules. Reading order: edited_text (how the text is read and checked), edit (the
kind of job, which runs the rest of the passes on it)."""

from irkit.inspector_web.jobs.edits.edit import EDITED as EDITED, editable as editable
