"""The verb split of the ``irkit`` command."""

import os
from pathlib import Path

import click

import irkit
from irkit.cli.flags.files import NEW_FOLDER
from irkit.cli.flags.fixed_inputs import SHAPE, VALUE, fixed_inputs
from irkit.cli.flags.model_inputs import INPUT, given_inputs, random_inputs
from irkit.cli.flags.programs import CONVERTER, PROGRAM, read_program
from irkit.codegen import complete_target
from irkit.core import DTypeError, InputError, IRKitError, IRModule, ShapeError, as_target
from irkit.debug import check_kernel, kernel_cases, write_kernel_tests
from irkit.graph import Array, GraphFunc
from irkit.ir import array_type, bits_of
from irkit.phases import GRAPH, for_target, input_specs


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
    feeds = _feeds(main, inputs, seed)
    cases = kernel_cases(_stages(module), feeds)
    names = write_kernel_tests(folder, cases, os.path.basename(model))
    wrong = [text for name in names.values() if (text := _problem(folder / name))]
    for text in wrong:
        click.echo(text, err=True)
    click.echo(f"{output}: {len(names)} kernels; test them with: python -m pytest {output}")
    if wrong:
        click.echo(f"{len(wrong)} kernels compute something else than NumPy", err=True)
        raise SystemExit(1)


def _stages(module: IRModule) -> list[IRModule]:
    """Return a model after each graph pass."""
    found = [module]
    pipeline = for_target(GRAPH, complete_target(as_target("llvm")))
    for step in pipeline.steps(module):
        made = step.applied_to(found[-1])
        assert isinstance(made, IRModule)
        found.append(made)
    return found


def _feeds(main: GraphFunc, inputs: tuple[str, ...], seed: int) -> dict[str, Array]:
    """Return the inputs by the names of parameters, which may differ from those in the model."""
    specs, given = input_specs(main), given_inputs(inputs)
    arrays = random_inputs(specs, seed) | given
    listed = ", ".join(spec.name for spec in specs) or "none"
    for name in given:
        if name not in {spec.name for spec in specs}:
            raise InputError(f"{name!r} is not an input; the inputs are: {listed}")
    for spec in specs:
        found, wanted = arrays[spec.name], array_type(spec.dtype)
        if found.dtype != wanted:
            raise DTypeError(f"input {spec.name!r} must be of type {wanted}, found {found.dtype}")
        if found.shape != spec.shape:
            raise ShapeError(
                f"input {spec.name!r} must have shape {spec.shape}, found {found.shape}"
            )
    return {p.name: bits_of(arrays[spec.name]) for p, spec in zip(main.params, specs, strict=True)}


def _problem(folder: Path) -> str:
    """Return what is wrong with a kernel, or an empty text."""
    try:
        check_kernel(folder, irkit.build)
    except (AssertionError, IRKitError) as error:
        return str(error)
    return ""
