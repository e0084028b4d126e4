"""Class posteriors of test rows: milpbn against pgmpy and pyAgrum, same network, same rows.

The network is a tree-augmented one (class and at most one feature as parents) learned from
the training rows of letter. Rows are complete, or four features of each are missing at
random. milpbn processes all 5000 test rows in one call; the others get fewer rows, and the
ratio is of seconds per row. Posteriors must agree. Libraries that are not installed are left
out: pip install 'milpbn[test]'.
"""

import importlib.util
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.learners import encoded
from milpbn import learn_parameters, learn_structure, load_dataset
from milpbn.network.inference import log_posterior
from milpbn.network.network import Network

Posterior = Callable[[np.ndarray], np.ndarray]
ROWS = {"pgmpy": 30, "pyagrum": 500}


def pgmpy_posterior(network: Network) -> Posterior:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    names = network.structure.variables
    model = DiscreteBayesianNetwork(list(network.structure.arcs))
    model.add_nodes_from(names)
    for i, name in enumerate(names):
        parents = network.structure.parents[i]
        cards = [network.variables[p].card for p in parents]
        table = np.exp(network.log_cpts[i])
        columns = np.moveaxis(table, -1, 0).reshape(table.shape[-1], -1)
        given = [names[p] for p in parents]
        model.add_cpds(TabularCPD(name, table.shape[-1], columns, given or None, cards or None))
    engine = VariableElimination(model)

    def posterior(features: np.ndarray) -> np.ndarray:
        out = []
        for row in features:
            evidence = {names[j + 1]: int(x) for j, x in enumerate(row) if x >= 0}
            found = engine.query([names[0]], evidence=evidence, show_progress=False)
            out.append(found.values)
        return np.array(out)

    return posterior


def pyagrum_posterior(network: Network) -> Posterior:
    import pyagrum

    names = network.structure.variables
    model = pyagrum.BayesNet()
    for variable in network.variables:
        model.add(pyagrum.RangeVariable(variable.name, variable.name, 0, variable.card - 1))
    for parent, child in network.structure.arcs:
        model.addArc(parent, child)
    for i, name in enumerate(names):
        # Its axes are the parents in reverse order of being added, then the child.
        potential = model.cpt(name)
        order = list(reversed(potential.names))
        mine = [*(names[p] for p in network.structure.parents[i]), name]
        axes = [mine.index(v) for v in order]
        potential[:] = np.ascontiguousarray(np.exp(network.log_cpts[i]).transpose(axes))
    engine = pyagrum.LazyPropagation(model)

    def posterior(features: np.ndarray) -> np.ndarray:
        out = []
        for row in features:
            engine.setEvidence({names[j + 1]: int(x) for j, x in enumerate(row) if x >= 0})
            out.append(engine.posterior(names[0]).toarray())
        return np.array(out)

    return posterior


def run() -> None:
    data = encoded(load_dataset("letter"))
    structure = learn_structure(data, method="tan-cmi", score="cr", class_parents=False).structure
    network, _ = learn_parameters(data, structure)
    complete = data.test()[:, 1:]
    rng = np.random.default_rng(0)
    order = rng.random(complete.shape).argsort(axis=1)
    patterns = {"complete": complete, "4 missing": np.where(order < 4, -1, complete)}
    log_posterior(network, patterns["4 missing"][:10])  # compiles
    others = {"pgmpy": pgmpy_posterior, "pyagrum": pyagrum_posterior}
    print(f"{'letter, 5000 rows':<20}{'library':<10}{'rows':>6}{'ms per row':>12}{'ratio':>9}")
    for what, rows in patterns.items():
        began = time.process_time()
        mine = np.exp(log_posterior(network, rows))
        own = (time.process_time() - began) / len(rows)
        print(f"{what:<20}{'milpbn':<10}{len(rows):>6}{1000 * own:>12.4f}{1:>9.0f}", flush=True)
        for name, build in others.items():
            if importlib.util.find_spec(name) is None:
                print(f"{what:<20}{name} is not installed: pip install 'milpbn[test]'")
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                posterior = build(network)
                few = rows[: ROWS[name]]
                began = time.process_time()
                theirs = posterior(few)
                seconds = (time.process_time() - began) / len(few)
            assert np.allclose(theirs, mine[: len(few)], atol=1e-6), f"{name} disagrees"
            print(
                f"{what:<20}{name:<10}{len(few):>6}{1000 * seconds:>12.4f}{seconds / own:>9.0f}",
                flush=True,
            )
