"""The option --prove of check and opt."""

import click

PROVE = click.option(
    "--prove",
    is_flag=True,
    help="Also prove each step for all values, where the statements stay the same. Needs z3: "
    "pip install 'irkit[prove]'.",
)
