"""Every public function and class has a property-based test, and the tests name no others."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import milpbn

FOLDER = Path(__file__).parent
MANUAL = FOLDER.parents[1] / "docs" / "reference" / "api.md"


def names_in_tests():
    """The names that the decorator `of` gives, read without importing the tests."""
    for path in FOLDER.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "of":
                        constants = (n for n in ast.walk(decorator) if isinstance(n, ast.Constant))
                        yield from (constant.value for constant in constants)


def public():
    """What can be imported from milpbn, and what the manual documents."""
    documented = re.findall(r"auto(?:function|class):: ([\w.]+)", MANUAL.read_text("utf-8"))
    return {*documented, *(f"milpbn.{name}" for name in milpbn.__all__)}


@pytest.mark.skipif(not MANUAL.exists(), reason="the manual is not part of an installed package")
def test_every_public_name_has_a_property():
    assert sorted(public() - set(names_in_tests())) == []
    assert sorted(set(names_in_tests()) - public()) == []


def test_the_names_exist():
    for name in set(names_in_tests()):
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(module), last), name
