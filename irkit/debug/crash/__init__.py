"""Folders that describe a failure in enough detail to reproduce it.

Reading order: folder (the files in it), explanation (marked lines and a diff), versions, material
(what is collected), writer, replay, isolation_policy (how a command runs passes and reports
failures).
"""
