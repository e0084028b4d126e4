"""Local scores: out, in again, solved to the same optimum; and files with something wrong."""

from itertools import product

import numpy as np
import oracle
import pytest
from interchange_tools import HOSTILE
from problems import encoded, random_codes

from milpbn.clock import Clock
from milpbn.errors import DataError
from milpbn.families import FamilySpace
from milpbn.families.parent_sets import ParentSets
from milpbn.interchange.jkl import parse_jkl, read_jkl, write_jkl
from milpbn.learning.maximise import maximise
from milpbn.learning.objective import build_objective
from milpbn.learning.settings import SearchSpace, Settings
from milpbn.learning.structure import learn_structure
from milpbn.scores import LinearObjective, make_score

SMALL = """3
class 3
-10.5 2 a b
-11.25 0
-1.1e1 1 a

# a comment
a 2
-7 0
-6.5 1 b
b 2
-6 1 class
-8 0
"""


def test_a_file_in_the_format_of_gobnilp_by_hand():
    objective = parse_jkl(SMALL)
    space = objective.space
    assert space.names == ("class", "a", "b")
    assert [space.parent_sets[f] for f in space.of(0)] == [(), (1,), (1, 2)]
    assert objective.weights.tolist() == [-11.25, -11.0, -10.5, -7.0, -6.5, -8.0, -6.0]


def test_the_best_structure_of_a_file(tmp_path):
    path = tmp_path / "small.jkl"
    path.write_text(SMALL)
    scores = read_jkl(path)
    for engine in ("branch-and-cut", "monolithic"):
        result = maximise(scores.given, Settings(score=scores, method=engine, start=None), Clock())
        # class alone, b with class, a with b: any other parents of the class close a cycle, or
        # cost more than they gain.
        assert (str(result.status), result.objective) == ("optimal", -23.75)
        assert result.bound == pytest.approx(result.objective)
        assert result.score_parameters == {"source": str(path)}


def test_parent_sets_that_no_optimum_needs_are_left_out(tmp_path):
    path = tmp_path / "small.jkl"
    path.write_text(SMALL.replace("-10.5 2 a b", "-11 2 a b"))
    space = read_jkl(path).given.space
    assert [space.parent_sets[f] for f in space.of(0)] == [(), (1,)]


def problem(seed, score):
    rng = np.random.default_rng(seed)
    codes, cards = random_codes(rng, 5, 3)
    data = encoded(codes, cards)
    return data, build_objective(data, make_score(score), SearchSpace(3))


@pytest.mark.parametrize("score", ["mdl", "bdeu"])
@pytest.mark.parametrize("seed", range(4))
def test_a_round_trip_solves_to_the_same_objective(tmp_path, seed, score):
    data, objective = problem(seed, score)
    path = tmp_path / "scores.jkl"
    path.write_text(write_jkl(objective))
    scores = read_jkl(path)
    assert (scores.given.weights == objective.weights).all()
    assert list(scores.given.space.parent_sets) == list(objective.space.parent_sets)
    there = maximise(scores.given, Settings(score=scores, start=None), Clock())
    here = learn_structure(data, score=score, max_parents=3)
    assert (str(here.status), str(there.status)) == ("optimal", "optimal")
    assert there.objective == pytest.approx(here.objective, abs=1e-9)
    assert there.objective == pytest.approx(best_by_enumeration(scores.given), abs=1e-9)


def best_by_enumeration(objective):
    space = objective.space
    choices = product(*(space.of(i) for i in range(space.n_variables)))
    return max(
        objective.value(f) for f in choices if oracle.is_acyclic([space.parent_sets[k] for k in f])
    )


def test_hard_names_come_back():
    n = len(HOSTILE)
    space = FamilySpace(
        tuple(HOSTILE),
        (2,) * n,
        ParentSets.of([s for i in range(n) for s in ((), ((i + 1) % n,))]),
        np.arange(0, 2 * n + 1, 2),
    )
    weights = np.random.default_rng(0).normal(size=2 * n)
    back = parse_jkl(write_jkl(LinearObjective(space, weights)))
    assert back.space.names == space.names
    assert list(back.space.parent_sets) == list(space.parent_sets)
    assert (back.weights == weights).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SMALL, "", "the file is empty"),
        ("3\nclass", "class", "line 1: expected the number of variables, found 'class 3'"),
        ("3\nclass", "three\nclass", "line 1: the number of variables should be a whole number"),
        ("3\nclass", "4\nclass", "the file ends after 3 of its 4 variables"),
        ("3\nclass", "2\nclass", "line 11: the file declares 2 variables, but more lines follow"),
        ("class 3", "class", "line 2: expected a variable and its number of parent sets"),
        ("class 3", "class many", "line 2: the number of parent sets should be a whole number"),
        ("class 3", "class 2", "line 5: expected a variable and its number"),
        ("class 3", "class 4", "line 8: expected a score, .* found 'a 2'"),
        ("b 2", "b 3", "the file ends in 'b', after 2 of its 3 parent sets"),
        ("a 2\n", "class 2\n", "line 8: the variable 'class' occurs twice"),
        ("-10.5 2 a b", "-10.5 1 a b", "line 3: expected 1 different parents, found 'a b'"),
        ("-10.5 2 a b", "-10.5 2 a a", "line 3: expected 2 different parents, found 'a a'"),
        ("-10.5 2 a b", "-10.5 2 a z", "line 3: there is no variable 'z'"),
        ("-10.5 2 a b", "-10.5 2 a class", "line 3: 'class' is a parent of itself"),
        ("-10.5 2 a b", "-10.5 1 a", "line 5: a second score for this parent set of 'class'"),
        ("-10.5 2", "nan 2", "line 3: expected a score"),
        ("-10.5 2", "-inf 2", "line 3: expected a score"),
        ("-10.5 2", "x 2", "line 3: expected a score"),
        ("-8 0", "-8 1 a", "no acyclic structure|leave no"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, old, new, message):
    path = tmp_path / "bad.jkl"
    assert old in SMALL
    text = SMALL.replace(old, new, 1)
    if message.startswith("no acyclic"):
        text = text.replace("-7 0", "-7 1 class").replace("-11.25 0", "-11.25 1 b")
    path.write_text(text)
    with pytest.raises(DataError, match=rf"bad\.jkl: .*(?:{message})"):
        read_jkl(path)


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*gone\.jkl: No such file"):
        read_jkl(tmp_path / "gone.jkl")
    (tmp_path / "binary.jkl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"binary\.jkl is not a file of local scores"):
        read_jkl(tmp_path / "binary.jkl")
