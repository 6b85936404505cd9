"""Decoders from PyTorch write keys and values of a token into their caches, in place."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRKitError, IRModule
from irkit.frontend.torch import TorchProgram, import_program, load_program
from irkit.graph import GraphFunc

FOLDER = Path(__file__).parent / "programs" / "decoders"
NAMES = ("gpt_decoder", "llama_decoder")


def read(name: str) -> tuple[TorchProgram, Any, Any]:
    """Return a decoder, the tokens it was given one by one, and what it returned for each."""
    with np.load(FOLDER / f"{name}.npz") as stored:
        return load_program(FOLDER / f"{name}.json"), stored["tokens"], stored["logits"]


def caches_of(module: IRModule) -> tuple[str, ...]:
    main = module["main"]
    assert isinstance(main, GraphFunc)
    found = dict(main.attrs)["mutations"]
    assert isinstance(found, tuple)
    return tuple(map(str, found))


def step(model: Any, caches: dict[str, Any], token: int, position: int) -> Any:
    given = {"token": np.array([[token]]), "position": np.array([position])}
    found = model.run({**given, **caches})
    assert all(found[name] is cache for name, cache in caches.items())
    return next(iter(found.values()))[0, 0]


@pytest.mark.parametrize("name", NAMES)
def test_thirty_two_tokens_are_decoded_with_caches_in_place(name: str) -> None:
    program, tokens, logits = read(name)
    module = import_program(program)
    names = caches_of(module)
    assert len(names) == 4
    model = irkit.compile(module, state={each: each for each in names}, keep_trace=False)
    assert model.plan.copies == ()
    caches: dict[str, Any] = {each: np.zeros_like(program.arrays[each]) for each in names}
    for at, token in enumerate(tokens):
        found = step(model, caches, int(token), at)
        np.testing.assert_allclose(found, logits[at], 1e-4, 1e-5)
    for cache in caches.values():
        assert np.all(np.any(cache[..., :32, :], axis=(1, 3)))
        assert not np.any(cache[..., 32:, :])

    before = {name: cache.copy() for name, cache in caches.items()}
    with pytest.raises(IRKitError, match=r"stored outside of the state .*keys'"):
        step(model, caches, 1, cache.shape[2])
    for each, array in before.items():
        np.testing.assert_array_equal(caches[each], array)


@pytest.mark.parametrize("name", NAMES)
def test_a_token_writes_its_rows_and_copies_no_cache(name: str) -> None:
    program, _, _ = read(name)
    module = import_program(program)
    names = caches_of(module)
    model = irkit.compile(module, state={each: each for each in names}, keep_trace=False)
    cache = program.arrays[names[0]]
    row = cache.nbytes // cache.shape[2]
    rows = [call for call in model.plan.calls if call.kernel.startswith("store_rows")]
    assert len(rows) == len(names)
    assert {model.plan.work[call.kernel].stored for call in rows} == {row}
    places = {call.args[-1] for call in rows}
    readers = [call for call in model.plan.calls if places & set(call.args[:-1])]
    assert len(readers) == len(names)
    assert all(model.plan.work[call.kernel].flops >= cache.size for call in readers)
