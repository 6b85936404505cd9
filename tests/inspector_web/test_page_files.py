"""The files of the page, joined: each module once, in an order that works, at a lasting address."""

import posixpath
import re
from collections import Counter

import pytest

from irkit.inspector_web.page_files import (
    DataSource,
    address,
    bundle,
    digest,
    modules_with,
    served_files,
    static_files,
    static_text,
)

SOURCES = pytest.mark.parametrize("source", ["report", "server"])


@SOURCES
def test_each_module_stands_in_the_script_once_after_those_that_it_uses(source: DataSource) -> None:
    modules = modules_with(source)
    assert len(set(modules)) == len(modules)
    for place, name in enumerate(modules):
        imports = re.findall(r'^import .* from "(.*?)";$', static_text(name), re.M)
        used = {posixpath.normpath(posixpath.join(posixpath.dirname(name), at)) for at in imports}
        assert used <= set(modules[:place]), name


def test_every_module_is_in_a_script() -> None:
    # enter.js is on the page that takes the token out of the address.
    joined = {*modules_with("report"), *modules_with("server"), "enter.js"}
    assert {name for name in static_files() if name.endswith(".js")} == joined


@SOURCES
def test_no_two_modules_give_a_name_to_different_things(source: DataSource) -> None:
    # They are one script: a name that is declared twice would be a syntax error in it.
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", bundle(source), re.M)
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_the_page_loads_one_script_and_one_style_sheet_that_hold_all() -> None:
    files = served_files()
    loaded = re.findall(r'(?:src|href)="(/[^"]*)"', files["index.html"].decode())
    assert sorted(loaded) == sorted(map(address, ["icon.svg", "page.css", "page.js"]))
    styles = [name for name in static_files() if name.endswith(".css")]
    assert all(files[name] in files["page.css"] for name in styles)
    assert len(files["page.css"]) == sum([len(files[name]) + 1 for name in styles]) - 1


def test_the_digest_of_files_changes_with_each_name_and_content() -> None:
    files = {"a.js": b"1", "b.js": b"23"}
    others = [
        {"a.js": b"12", "b.js": b"3"},
        {"a.js": b"1", "c.js": b"23"},
        {"a.js": b"1"},
        {"a.js": b"23", "b.js": b"1"},
    ]
    assert digest(dict(reversed(files.items()))) == digest(files)
    assert len({digest(each) for each in (files, *others)}) == 1 + len(others)
