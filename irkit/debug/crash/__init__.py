"""A folder about a failure, enough to see it again. Reading order: folder (what stands in one),
explanation (lines and diff for people), versions, material (what is collected), writer, replay,
isolation_policy (how a command runs passes and reports failures).

The hash in the name of a folder is over symptom, pass and IR text, so the same failure is written
once. A folder appears whole, by renaming. ``replay`` compares symptoms: kind, message without
addresses, problems. The folder is trusted: the modules of its passes are imported.
"""
