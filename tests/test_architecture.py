"""The rooms of milpbn and the arrows between them, as docs/explanation/architecture.md has them."""

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest

import milpbn
from milpbn.scores import Objective, Score
from milpbn.scores.local import LocalScores

ROOT = Path(milpbn.__file__).parent

# Each room imports only from rooms above it.
ROOMS = (
    "shared",
    "check",
    "datasets",
    "encoding",
    "families",
    "network",
    "explanation",
    "scores",
    "parameters",
    "anytime",
    "search",
    "engines",
    "learning",
    "selection",
    "certainty",
    "verification",
    "estimators",
    "evaluation",
    "mdc",
    "model_files",
    "pictures",
    "deployment",
    "reporting",
    "interchange",
    "doctor",
    "cli",
    "compile",
)

# Single modules at the top that every room may use.
SHARED = {
    *("_types", "bar", "clock", "cluster", "compiled", "errors", "files", "lazy"),
    *(
        "markup",
        "messages",
        "result",
        "schema",
        "settings",
        "signals",
        "specs",
        "structure",
        "widths",
        "words",
    ),
}

# What a model file may hold besides the model: plain data, kept with what computes them.
RECORDS = (
    "selection.candidates",
    "certainty.arc_records",
    "certainty.alternative_records",
    "certainty.stability_records",
)
# The table of settings names the types of their values; it imports nothing of this when it runs.
TYPES = {
    ("settings.columns", "datasets.own_bins"),
    ("settings.run", "learning.methods"),
    ("settings.run", "parameters"),
    ("settings.score", "families.smoothing"),
    ("settings.score", "scores"),
    ("settings.space", "families"),
}
# Model.to_estimator() returns a scikit-learn estimator, which is built on models.
WRONG_WAY = {("learning.model", module) for module in (*RECORDS, "estimators")} | TYPES


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(p for p in parts if p != "__init__"), ast.parse(path.read_text("utf-8"))


def room_of(module):
    first = module.partition(".")[0]
    return "shared" if first in SHARED else first


def homes():
    """The modules that define the names of the package itself."""
    found = {name: home.removeprefix("milpbn.") for name, home in milpbn._HOMES.items()}
    return {**found, "__version__": "", "PROCESS_START": ""}


def imports(tree):
    """Modules of milpbn that a file imports, also inside functions and for type checking.

    ``from milpbn import X`` imports the module X, or the one that defines the name X. The names
    that the package defines itself belong to no room.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert not any(a.name.startswith("milpbn.") for a in node.names), "use from ... import"
        elif isinstance(node, ast.ImportFrom) and node.module == "milpbn":
            targets = (homes().get(alias.name, alias.name) for alias in node.names)
            yield from filter(None, targets)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("milpbn."):
            yield node.module.removeprefix("milpbn.")


EDGES = [
    (module, target)
    for module, tree in modules()
    if module and module not in ("__main__", "")
    for target in imports(tree)
]


def test_every_module_lives_in_a_room():
    found = {room_of(module) for module, _ in modules() if module not in ("", "__main__")}
    assert found == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_rooms_above(room):
    own = {(m, target) for m, target in EDGES if room_of(m) == room}
    above = ROOMS[: ROOMS.index(room) + 1]
    wrong = sorted({(m, t) for m, t in own if room_of(t) not in above} - WRONG_WAY)
    assert wrong == []


def test_the_checker_of_certificates_stands_alone():
    own = [(module, tree) for module, tree in modules() if room_of(module) == "check"]
    assert own
    for _, tree in own:
        used = {target for target in imports(tree) if room_of(target) != "check"}
        assert used <= {"errors"}
        lines = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        names = {a.name for line in lines if isinstance(line, ast.Import) for a in line.names}
        names |= {str(line.module) for line in lines if isinstance(line, ast.ImportFrom)}
        names = {name.partition(".")[0] for name in names}
        assert names <= {"milpbn", "numpy"} | sys.stdlib_module_names


@pytest.mark.parametrize("record", RECORDS)
def test_what_model_files_hold_needs_no_room_below_models(record):
    above = ROOMS[: ROOMS.index("learning")]
    wrong = {t for m, t in EDGES if m == record and room_of(t) not in above}
    assert wrong <= {"selection.criteria"}


def kinds_of(base):
    return {base.__name__}.union(*map(kinds_of, base.__subclasses__()))


def test_nobody_asks_for_the_type_of_a_score_or_an_objective():
    kinds = kinds_of(Score) | kinds_of(Objective)
    assert {"SoftMargin", "LinearObjective", LocalScores.__name__} <= kinds
    asked = [
        f"{module}: {ast.unparse(node)}"
        for module, tree in modules()
        if room_of(module) != "scores"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass")
        if kinds & {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
    ]
    assert asked == []


def test_the_exceptions_are_still_needed():
    assert set(EDGES) >= WRONG_WAY


def test_imports_from_the_package_itself_are_seen():
    tree = ast.parse("from milpbn import BNClassifier, clock, __version__\nimport milpbn")
    assert list(imports(tree)) == ["estimators", "clock"]


def needs():
    """For each room those that it imports directly and not through another one that it imports."""
    direct = {
        room: {room_of(t) for m, t in EDGES if room_of(m) == room and (m, t) not in WRONG_WAY}
        - {room, "shared"}
        for room in ROOMS[1:]
    }
    behind = {}
    for room in ROOMS[1:]:  # the rooms above come first
        behind[room] = direct[room].union(*(behind[above] for above in direct[room]))
    return {
        room: sorted(
            {a for a in above if not any(a in behind[other] for other in above)}, key=ROOMS.index
        )
        for room, above in direct.items()
    }


def test_the_picture_in_the_manual_is_the_graph_of_the_imports():
    page = ROOT.parent / "docs" / "explanation" / "architecture.md"
    if not page.exists():
        pytest.skip("the manual is not part of an installed package")
    lines = [f"{room:<12} <- {', '.join(above)}".rstrip(" <-") for room, above in needs().items()]
    picture = "\n".join(["```text", *lines, "```"])
    assert picture in page.read_text("utf-8"), f"the picture must be\n{picture}"


def test_the_manual_shows_every_room():
    page = ROOT.parent / "docs" / "explanation" / "architecture.md"
    if not page.exists():
        pytest.skip("the manual is not part of an installed package")
    text = page.read_text("utf-8")
    assert [room for room in ROOMS if room != "shared" and f"`{room}`" not in text] == []


def test_no_public_class_or_function_shares_its_name_with_another():
    names = Counter(
        node.name
        for module, tree in modules()
        if room_of(module) != "cli"  # a command is named like the function that it runs
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    )
    assert [name for name, times in names.items() if times > 1] == []
