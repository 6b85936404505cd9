"""``python -m irkit`` is the ``irkit`` command."""

from irkit.cli.verbs import main

main()
