"""Every public function and class has a property-based test that uses it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import milpbn

FOLDER = Path(__file__).parent
MANUAL = FOLDER.parents[1] / "docs" / "reference" / "api.md"


def about(function):
    """The names that the decorator `of` gives a property, read without importing the test."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "of":
            yield from (n.value for n in ast.walk(decorator) if isinstance(n, ast.Constant))


def properties():
    """The public names of each file of properties, and every word that its code uses."""
    for path in FOLDER.glob("test_*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        words = {getattr(node, "id", None) or getattr(node, "attr", None) for node in nodes}
        functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
        yield {name for function in functions for name in about(function)}, words


def named(name):
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def public():
    """What can be imported from milpbn, and what the manual documents."""
    documented = re.findall(r"auto(?:function|class):: ([\w.]+)", MANUAL.read_text("utf-8"))
    return {*documented, *(f"milpbn.{name}" for name in milpbn.__all__)}


@pytest.mark.skipif(not MANUAL.exists(), reason="the manual is not part of an installed package")
def test_every_public_name_has_a_property():
    tested = {id(named(name)) for names, _ in properties() for name in names}
    assert [name for name in sorted(public()) if id(named(name)) not in tested] == []


def test_properties_use_what_they_are_about():
    unused = [n for names, words in properties() for n in names if n.split(".")[-1] not in words]
    assert sorted(unused) == []
