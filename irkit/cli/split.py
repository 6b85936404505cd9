"""The verb split of the ``irkit`` command."""

import os
from pathlib import Path

import click

import irkit
from irkit.cli.flags.files import NEW_FOLDER
from irkit.cli.flags.fixed_inputs import SHAPE, VALUE, fixed_inputs
from irkit.cli.flags.model_inputs import INPUT, feeds_of, given_inputs, graph_stages
from irkit.cli.flags.programs import CONVERTER, PROGRAM, read_program
from irkit.core import IRKitError
from irkit.debug import check_kernel, kernel_cases, write_kernel_tests
from irkit.graph import GraphFunc


@click.command("split")
@click.argument("model", type=PROGRAM)
@click.option("-o", "--output", required=True, type=NEW_FOLDER, help="The folder to write.")
@SHAPE
@VALUE
@CONVERTER
@INPUT
@click.option("--seed", default=0, show_default=True, help="Seed of inputs that are not given.")
def split_(
    model: str,
    output: str,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    inputs: tuple[str, ...],
    seed: int,
) -> None:
    """Write a numeric unit test for each kernel of MODEL: an ONNX file, or a graph as IR text.

    The folder has the IR of each kernel, its inputs in a run of the model, and the outputs that
    NumPy computes from them; and a pytest that compiles and compares all. Inputs that are not given
    are random: floats from 0 to 1, integers 0. Each kernel is tried at once; one that is wrong is
    named, and the exit code is 1.

    \b
      irkit split model.onnx -o kernels
      python -m pytest kernels
    """
    folder = Path(output)
    if folder.is_dir() and any(folder.iterdir()):
        raise IRKitError(f"the folder {output} is not empty", hint="Name a new one with -o.")
    module = read_program(model, fixed_inputs(shapes, values)).module
    main = module.functions.get("main")
    if not isinstance(main, GraphFunc):
        raise IRKitError(f"{model} has no graph function 'main', so it is no model")
    feeds = feeds_of(main, given_inputs(inputs), seed)
    cases = kernel_cases(graph_stages(module), feeds)
    names = write_kernel_tests(folder, cases, os.path.basename(model))
    wrong = [text for name in names.values() if (text := _problem(folder / name))]
    for text in wrong:
        click.echo(text, err=True)
    click.echo(f"{output}: {len(names)} kernels; test them with: python -m pytest {output}")
    if wrong:
        click.echo(f"{len(wrong)} kernels compute something else than NumPy", err=True)
        raise SystemExit(1)


def _problem(folder: Path) -> str:
    """Return what is wrong with a kernel, or an empty text."""
    try:
        check_kernel(folder, irkit.build)
    except (AssertionError, IRKitError) as error:
        return str(error)
    return ""
