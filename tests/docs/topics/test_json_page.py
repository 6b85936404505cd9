"""docs/json.md lists exactly the fields that the verbs print."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import irkit
from irkit.cli.checks import target_check
from irkit.cli.verbs import VERBS
from irkit.core import Target, rewrite
from irkit.ir import Const, PrimFunc
from irkit.phases import DEFAULT
from tests.cli.command import call
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "json.md").read_text()
KERNEL = """\
def scale(A: f32[6, 4], C: f32[6, 4]):
    for i in parallel(0, 6):
        for j in serial(0, 4):
            C[i, j] = A[i, j] * f32(2.0)
"""
PASS = '''\
from irkit.core import rewrite
from irkit.ir import For, PrimFunc
from irkit.transform import define_pass


@define_pass
def shorten(func: PrimFunc) -> PrimFunc:
    """Drop the last iteration."""
    return rewrite(func, lambda loop: loop.replace(end=loop.end - 1), on=For)
'''
WRONG = ("--pass", "2:shorten_for_the_json:shorten", "--stop-after", "2", "--no-isolate")
SCALARS = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}
Objects = dict[str, dict[str, str]]


def with_three(func: PrimFunc, target: Target) -> PrimFunc:
    """Return a function with 3 instead of 2, as the legalisation of a target with a bug would."""
    return rewrite(func, lambda x: x.replace(value=3.0) if x.value == 2.0 else None, on=Const)


def objects_of(page: str) -> Objects:
    """Return the type of each field of each object that the page describes."""
    found = re.findall(r"(\w+):\n\n\| field .*\n.*\n((?:\|.*\n)+)", page)
    return {
        name: dict(re.findall(r"^\| `([\w?]+)` \| (.*?) \|", rows, re.M)) for name, rows in found
    }


def problems(value: Any, kind: str, objects: Objects, seen: set[str], at: str = "") -> list[str]:
    """Return how a value differs from its type; note the fields that were seen."""
    if " or " in kind:
        return problems(value, kind.removesuffix(" or null"), objects, seen, at) if value else []
    if kind.startswith("["):
        return [
            line
            for number, each in enumerate(value)
            for line in problems(each, kind[1:-1], objects, seen, f"{at}[{number}]")
        ]
    if kind.startswith("{"):
        return [
            line for each in value.values() for line in problems(each, kind[1:-1], objects, seen)
        ]
    if kind in SCALARS:
        is_right = isinstance(value, SCALARS[kind]) and (kind == "boolean") == isinstance(
            value, bool
        )
        return [] if is_right else [f"{at}: {value!r} is no {kind}"]
    fields, found = objects[kind], list[str]()
    for name, type_ in fields.items():
        if name.rstrip("?") in value:
            seen.add(f"{kind}.{name}")
            found += problems(value[name.rstrip("?")], type_, objects, seen, f"{at}.{name}")
        elif not name.endswith("?"):
            found.append(f"{at}.{name} is missing")
    return found + [f"{at}.{name} is not on the page" for name in value if not _has(fields, name)]


def _has(fields: dict[str, str], name: str) -> bool:
    return name in fields or f"{name}?" in fields


@pytest.fixture
def outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[tuple[str, Any]]:
    """Return what the verbs print about a kernel and a pass that is wrong."""
    pytest.importorskip("z3")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shorten_for_the_json.py").write_text(PASS)
    (tmp_path / "k.irs").write_text(KERNEL)
    func = irkit.ir.parse(KERNEL)
    irkit.trace(func).save("a.trace")
    irkit.trace(func, pipeline=DEFAULT.without("simplify")).save("b.trace")
    monkeypatch.setattr(target_check, "_legalised", with_three)
    found: list[tuple[str, Any]] = []
    for args in (
        ("trace", "a.trace", "--json"),
        ("diff", "a.trace", "b.trace", "--json"),
        ("diff", "a.trace", "a.trace", "--step", "0", "--step", "5", "--json"),
        ("diff", "b.trace", "a.trace", "--json", "--brief"),
        ("check", "k.irs", *WRONG, "--json"),
        ("check", "k.irs", "--stop-after", "1", "--trust", "--json"),
        ("check", "k.irs", "--stop-after", "1", "--bounds", "--races", "--json"),
        ("bisect", "k.irs", *WRONG, "--json"),
        ("bisect", "k.irs", "--stop-after", "1", "--json"),
        ("check", "k.irs", "--target", "interpreter", "--target", "host", "--json"),
    ):
        _, out, err = call(capsys, *args)
        assert out.count("\n") == 1, (args, out, err)
        found.append((args[0], json.loads(out)))
    call(capsys, "report", "a.trace", "--check", "--json", "r.json")
    found.append(("report", json.loads((tmp_path / "r.json").read_text())))
    return found


def test_what_the_verbs_print_is_what_the_page_says(outputs: list[tuple[str, Any]]) -> None:
    objects, seen = objects_of(PAGE), set[str]()
    for verb, made in outputs:
        assert made["schema"] == f"irkit.{verb}/1"
        assert problems(made, verb.capitalize(), objects, seen) == []
    required = {f"{each}.{name}" for each in objects for name in objects[each] if "?" not in name}
    assert required - seen == set()
    check, bisect = outputs[4][1], outputs[7][1]
    assert check["ok"] is False
    assert bisect["verdict"]["name"] == "shorten"
    assert bisect["rewrites"]
    assert outputs[8][1]["verdict"] is None
    assert set(dict(outputs)) <= set(VERBS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"index": "0"}, ".steps[0].index: '0' is no integer"),
        ({"changed": 1}, ".steps[0].changed: 1 is no boolean"),
        ({"more": 1}, ".steps[0].more is not on the page"),
    ],
)
def test_a_field_that_the_page_does_not_say_is_found(change: dict[str, Any], said: str) -> None:
    names = {"level": "loop", "name": "p", "pass_text": "p", "function": "f"}
    numbers = {"index": 0, "phase": 0, "changed": True, "seconds": 0.5, "rewrites": 0}
    step: dict[str, Any] = names | numbers
    made = {"schema": "", "title": "", "versions": {}, "damage": "", "steps": [step]}
    assert problems(made, "Trace", objects_of(PAGE), set()) == []
    made["steps"] = [step | change]
    assert problems(made, "Trace", objects_of(PAGE), set()) == [said]
