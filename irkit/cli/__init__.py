"""The ``irkit`` command. ``verbs`` holds the table of verbs and ``main``; each verb is a module of
its own name, imported only when it is called.

Reading order: verbs, trace (the shortest verb), opt, flags (options that several verbs share),
notes, pass_templates (what ``new-pass`` writes). Only this folder imports click.
"""

from irkit.cli.verbs import VERBS as VERBS, irkit as irkit, main as main
