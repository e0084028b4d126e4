"""Properties of structures, results and messages."""

import json

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st
from property_cases import any_structures, names, of, some, structures

from milpbn.messages import Message, Spelling, option
from milpbn.result import (
    ParameterReport,
    Result,
    Status,
    TracePoint,
    WarmStart,
    relative_gap,
)
from milpbn.structure import ClassStructures, Structure, structure_from_dict

NUMBERS = st.floats(-1e9, 1e9).filter(bool)


@of("milpbn.Structure")
@some
@given(any_structures)
def test_a_structure_is_the_same_in_every_form(one):
    assert Structure.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert Structure.from_arcs(one.variables, reversed(one.arcs)) == one
    graph = one.to_networkx()
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.edges) == set(one.arcs)
    place = {v: k for k, v in enumerate(one.order)}
    assert all(place[p] < place[v] for v, s in enumerate(one.parents) for p in s)
    below = {(p, child) for p, children in enumerate(one.children) for child in children}
    assert below == {(p, child) for child, s in enumerate(one.parents) for p in s}


@of("milpbn.structure.ClassStructures")
@some
@given(st.data())
def test_the_structures_of_classes_come_back(data):
    variables = ["class", "a", "b"]
    own = [
        Structure(one.variables, ((), *one.parents[1:]))
        for one in (data.draw(structures(variables)) for _ in range(2))
    ]
    both = ClassStructures(("no", "yes"), tuple(own))
    assert structure_from_dict(json.loads(json.dumps(both.to_dict()))) == both
    assert structure_from_dict(own[0].to_dict()) == own[0]


@of("milpbn.Result", "milpbn.Status", "milpbn.result.TracePoint", "milpbn.result.WarmStart")
@some
@given(
    NUMBERS,
    st.none() | st.floats(0, 1e6),
    st.sampled_from(Status),
    st.lists(st.tuples(st.floats(0, 1e6), NUMBERS, NUMBERS, names), max_size=3),
)
def test_a_result_comes_back_from_json(objective, gap, status, trace):
    one = Result(
        status,
        Structure(("class", "a"), ((), (0,))),
        objective,
        None if gap is None else objective + gap,
        "sm",
        {"p": 0.9},
        seconds={"solving": 1.5},
        warm_start=WarmStart("nb", objective, True, 0.5),
        trace=tuple(TracePoint(t, v, b, 3, source) for t, v, b, source in trace),
    )
    assert Result.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert one.gap_rel == relative_gap(one.objective, one.bound)
    assert Status(str(one.status)) is one.status


@of("milpbn.result.relative_gap")
@given(NUMBERS, st.floats(0, 1e9))
def test_the_gap_is_a_share_of_the_objective(objective, above):
    bound = objective + above
    assert relative_gap(objective, bound) == (bound - objective) / abs(objective)
    assert relative_gap(None, bound) is relative_gap(objective, None) is None


@of("milpbn.result.ParameterReport")
@given(names, st.none() | NUMBERS, st.integers(0, 99), st.sampled_from(["converged", "time_limit"]))
def test_a_report_about_parameters_comes_back(method, value, iterations, ended):
    one = ParameterReport(method, "x", value, value, {"penalty": 1.0}, iterations, ended, 0.5)
    assert ParameterReport.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert one.stopped_early == (ended != "converged")


@of("milpbn.messages.Message", "milpbn.messages.Spelling", "milpbn.messages.option")
@given(st.lists(names | st.tuples(names, names), max_size=4))
def test_a_message_has_two_spellings(parts):
    message = Message(*(Spelling(*p) if isinstance(p, tuple) else p for p in parts))
    pairs = [p if isinstance(p, tuple) else (p, p) for p in parts]
    assert str(message) == "".join(python for python, _ in pairs)
    assert message.on_command_line() == "".join(typed for _, typed in pairs)
    nested = Message("in ", message)
    assert nested.on_command_line() == "in " + message.on_command_line()
    given_option = option("max_parents", "3")
    assert given_option.python.startswith("max_parents=")
    assert given_option.command_line == "--max-parents 3"
