"""Properties of parameter learners and of their losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_cases import data_sets, few, of, some, structures

from milpbn import learn_parameters
from milpbn.families import Laplace
from milpbn.network.inference import log_posterior
from milpbn.network.network import fit_network
from milpbn.parameters import Parameters, make_parameters
from milpbn.parameters.cl import ConditionalLikelihood
from milpbn.parameters.convert import layout_of, with_tables
from milpbn.parameters.losses import ConditionalLoss, MarginLoss
from milpbn.parameters.ml import MaximumLikelihood
from milpbn.parameters.mm import MaximumMargin
from milpbn.parameters.tables import ClassTable, TableLayout

LEARNERS = (
    st.just(MaximumLikelihood())
    | st.builds(
        ConditionalLikelihood,
        method=st.sampled_from(["l-bfgs", "cg"]),
        folds=st.integers(2, 9),
        penalty=st.none() | st.floats(0, 100),
    )
    | st.builds(MaximumMargin, lambda_=st.none() | st.floats(1e-3, 100), penalty=st.floats(0, 9))
)


@of(
    *("milpbn.parameters.make_parameters", "milpbn.parameters.Parameters"),
    *("milpbn.parameters.ml.MaximumLikelihood", "milpbn.parameters.cl.ConditionalLikelihood"),
    "milpbn.parameters.mm.MaximumMargin",
)
@given(LEARNERS)
def test_a_parameter_learner_is_its_text(one):
    assert isinstance(one, Parameters)
    assert make_parameters(str(one)) == one
    assert make_parameters(one) is one


@of("milpbn.learn_parameters")
@few
@given(data_sets(), st.data())
def test_discriminative_parameters_have_a_higher_conditional_likelihood(data, more):
    structure = more.draw(structures([v.name for v in data.variables]))
    counted, report = learn_parameters(data, structure, parameters="ml")
    plain = fit_network(structure, data.variables, data.codes, Laplace())
    assert all((a == b).all() for a, b in zip(counted.log_cpts, plain.log_cpts, strict=True))
    assert report.objective is None

    def likelihood(network):
        logs = log_posterior(network, data.codes[:, 1:])
        return logs[np.arange(len(logs)), data.codes[:, 0]].sum()

    learned, report = learn_parameters(data, structure, parameters="cl:penalty=0.001")
    assert report.objective >= report.start - 1e-9
    assert likelihood(learned) >= likelihood(counted) - 1e-2
    for table in learned.log_cpts:
        assert np.exp(table).sum(axis=-1) == pytest.approx(1.0)


@of("milpbn.parameters.losses.ConditionalLoss", "milpbn.parameters.losses.MarginLoss")
@some
@given(
    st.sampled_from([ConditionalLoss(), MarginLoss(0.3), MarginLoss(2.0, h=0.1, eta=3.0)]),
    st.lists(st.tuples(*[st.floats(-4, 4)] * 3), min_size=1, max_size=5),
    st.integers(0, 2),
)
def test_a_loss_is_concave_and_its_derivative_leads_uphill(loss, joint, label):
    joint = np.array(joint)
    labels, weights = np.full(len(joint), label), np.ones(len(joint))
    value, slope = loss(joint, labels, weights)
    # A concave function lies below its tangent.
    for step in (0.7, -0.4):
        other = joint + step * np.cos(np.arange(joint.size)).reshape(joint.shape)
        tangent = value + float((slope * (other - joint)).sum())
        assert loss(other, labels, weights)[0] <= tangent + 1e-9
    assert loss(joint, labels, 2 * weights)[0] == pytest.approx(2 * value)


@of("milpbn.parameters.tables.TableLayout", "milpbn.parameters.tables.ClassTable")
@some
@given(data_sets(), st.data())
def test_the_tables_of_a_network_are_one_vector_of_cells(data, more):
    structure = more.draw(structures([v.name for v in data.variables]))
    network = fit_network(structure, data.variables, data.codes, Laplace())
    layout = layout_of(network)
    assert isinstance(layout, TableLayout)
    assert all(isinstance(table, ClassTable) for table in layout.tables)
    assert layout.base[-1] == sum(table.size for table in layout.tables)
    size = int(layout.base[-1])
    beta = np.array(more.draw(st.lists(st.floats(-3, 3), min_size=size, max_size=size)))
    changed = with_tables(network, layout, layout.log_theta(beta))
    for table in changed.log_cpts:
        assert np.exp(table).sum(axis=-1) == pytest.approx(1.0)
    # The entries of a row are those of the changed network, up to what all classes share.
    cells = layout.cells(data.codes)
    found = np.zeros((len(data.codes), layout.n_classes))
    for t, table in enumerate(layout.tables):
        for c in range(table.width):
            found[:, table.first + c] += layout.log_theta(beta)[cells[:, t] + c]
    found -= np.logaddexp.reduce(found, axis=1)[:, None]
    assert found == pytest.approx(log_posterior(changed, data.codes[:, 1:]))
