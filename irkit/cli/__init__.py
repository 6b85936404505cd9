"""The ``irkit`` command. ``verbs`` is the table of verbs and ``main``; each verb is a file of its
own name, imported when it is called, so that help is instant.  Reading order: verbs, opt (the
plainest verb), flags (options that several verbs share), notes, pass_templates (what ``new-
pass`` writes). Nothing outside of this folder knows click."""

from irkit.cli.verbs import VERBS as VERBS, irkit as irkit, main as main
