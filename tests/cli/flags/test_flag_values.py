"""Several options reach a verb as one value."""

import click
import msgspec
from click.testing import CliRunner

from irkit.cli.flags.flag_values import as_value


class Size(msgspec.Struct, frozen=True):
    width: int
    height: int
    unit: str = "mm"


@click.command()
@click.argument("name")
@as_value("size", Size, (click.option("--width", default=1), click.option("--height", default=2)))
@click.option("--loud", is_flag=True)
def show(name: str, size: Size, loud: bool) -> None:
    click.echo(f"{name} {size} {loud}")


def test_options_become_one_parameter_and_the_others_stay() -> None:
    done = CliRunner().invoke(show, ["box", "--height", "7", "--loud"], catch_exceptions=False)
    assert done.output == "box Size(width=1, height=7, unit='mm') True\n"


def test_help_lists_the_options_in_order() -> None:
    text = CliRunner().invoke(show, ["--help"]).output
    assert text.index("--width") < text.index("--height") < text.index("--loud")
