"""Folders that describe a failure in enough detail to reproduce it.

Reading order: folder (the files in it), explanation (marked lines and a diff), versions, material
(what is collected), writer, replay, death_watch (a pass that takes this process down),
isolation_policy (how a command runs passes and reports failures).

The hash in the name of a folder is over symptom, pass and IR text, so the same failure is written
once. A folder appears whole, by renaming. ``replay`` compares symptoms: kind, message without
addresses, problems. The folder is trusted: the modules of its passes are imported.
"""
