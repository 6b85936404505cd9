"""Digests of what cases are drawn as and lowered to, with the irkit of this process, which may be
changed: a change without a visible difference may be equivalent."""

import hashlib
from collections.abc import Callable, Iterator
from time import perf_counter

from irkit.codegen import emit
from irkit.core import IRKitError, IRModule
from irkit.debug import scheduled_steps
from irkit.fuzz.campaign.draw import draw_of
from irkit.fuzz.campaign.worker import set_up_worker, text_of
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.models import is_model, module_of
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT, LEGALIZE, for_target
from irkit.transform import IR
from tests.mutation.changes.coverage_probe import PROBE
from tests.mutation.trials.messages import DigestOrder, Digests

_LEVEL = 3


def digest_cases(order: DigestOrder, on_case: Callable[[str], object]) -> Digests:
    """Draw and lower cases until the time is over; ``on_case`` is called with each number."""
    set_up_worker()
    started = perf_counter()
    found: list[str] = []
    for number in range(order.count):
        if perf_counter() - started > order.seconds:
            break
        on_case(str(number))
        draw = draw_of(order.seed, number, order.kinds, ())
        digest = hashlib.sha256()
        try:
            for text in _texts(draw.sample()):
                digest.update(text.encode())
        except Unusable:
            digest.update(b"unusable")
        except Exception as error:  # A change can raise anything.
            said = error.message if isinstance(error, IRKitError) else ""
            digest.update(f"{type(error).__name__} {said}".encode())
        found.append(digest.hexdigest()[:12])
    return Digests(tuple(found), PROBE.reached, PROBE.other)


def _texts(sample: Sample) -> Iterator[str]:
    """Return the text of a sample, of what each of its passes made, and of its LLVM IR."""
    yield text_of(sample)
    if isinstance(sample.ir, PrimFunc):
        func: IR = sample.ir
        for step in scheduled_steps(func, sample.schedule, sample.pipeline):
            func = step.after
            yield step.after.script() if step.changed else ""
        assert isinstance(func, PrimFunc)
        yield emit([func], target_of(_LEVEL))
    elif is_model(sample.ir):
        yield from _model_texts(sample)


def _model_texts(sample: Sample) -> Iterator[str]:
    target = target_of(_LEVEL)
    whole: IR = module_of(sample)
    yield whole.script()
    for step in for_target(sample.pipeline, target).steps(whole, verify=False):
        whole = step.applied_to(whole)
    yield whole.script()
    assert isinstance(whole, IRModule)
    for name, func in whole.functions.items():
        if isinstance(func, PrimFunc):
            made = DEFAULT.then(LEGALIZE).run(func.replace(name=name), verify=False)
            assert isinstance(made, PrimFunc)
            yield emit([made], target)
