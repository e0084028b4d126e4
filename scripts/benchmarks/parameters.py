"""Parameter learners: CL against scikit-learn's logistic regression, and against each other.

Part one uses naive Bayes structures, for which CL is multinomial logistic regression: seconds
to fit, against LogisticRegression on one-hot columns (sparse) with a penalty of the same weight,
and against LogisticRegressionCV, which chooses the penalty from as many values in as many folds.
Part two measures the parameter learners on held-out rows; the defaults are based on it. Part three
(``parameters:priors``) compares the means of the prior of CL in three folds of 15 data sets.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from benchmarks.learners import encoded, learned
from benchmarks.new_rows import accuracy_and_loss, complete
from milpbn import learn_parameters, load_dataset
from milpbn.encoding import EncodedData
from milpbn.learning.classifier import learn_classifier
from milpbn.learning.settings import make_settings
from milpbn.network.inference import accuracy, log_posterior
from milpbn.network.network import Network
from milpbn.parameters.cl import PENALTIES
from milpbn.search.local_search import LocalSearch
from milpbn.selection.validation import part, stratified_folds

PRIORS = (
    *("iris", "glass", "glass2", "heart", "cleve", "hepatitis", "diabetes", "vehicle"),
    *("australian", "crx", "german", "breast", "vote", "car", "lymphography"),
)
SPEED = ("vehicle", "spambase", "satimage", "letter")
QUALITY = ("car", "spambase", "vehicle", "satimage", "letter")
LEARNERS = (
    "ml",
    "cl",
    "cl:prior=ml",
    "cl:selection=cross-tuning",
    "cl:method=cg,selection=cross-tuning",
    "cl:selection=none",
    "mm",
    "mm:penalty=0.0",
)


def held_out(network: Network, data: EncodedData) -> tuple[float, float]:
    """Accuracy in per cent and mean conditional log-likelihood of the test rows."""
    codes = data.test()
    known = codes[codes[:, 0] >= 0]
    own = log_posterior(network, known[:, 1:])[np.arange(len(known)), known[:, 0]]
    return 100 * accuracy(network, codes), float(own.mean())


def split(name: str) -> EncodedData:
    """The split of the catalog, or a random third of the rows as test rows."""
    data = encoded(load_dataset(name))
    if not len(data.test()):
        data.is_train[np.random.default_rng(0).random(len(data.codes)) < 1 / 3] = False
    return data


def seconds(work) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def speed() -> None:
    print(
        f"{'naive Bayes':<12}{'rows':>7}{'cells':>7}"
        f"{'CL':>8}{'LR':>8}{'LR/CL':>7}{'CL, CV':>9}{'LR, CV':>9}{'LR/CL':>7}"
    )
    for name in SPEED:
        data = split(name)
        structure = learned(data, "nb", 1, None)[0].structure
        codes = data.train()
        one_hot = OneHotEncoder(handle_unknown="ignore").fit_transform(codes[:, 1:])
        common = {"max_iter": 1000, "tol": 1e-4}
        learn_parameters(data, structure, parameters="cl:penalty=100")  # compiles
        with threadpool_limits(1):
            once = seconds(lambda: learn_parameters(data, structure, parameters="cl:penalty=1"))  # noqa: B023
            logistic = seconds(
                lambda: LogisticRegression(C=1.0, **common).fit(one_hot, codes[:, 0])  # noqa: B023
            )
            chosen = seconds(lambda: learn_parameters(data, structure, parameters="cl"))  # noqa: B023
            grid = [1 / penalty for penalty in PENALTIES]
            model = LogisticRegressionCV(
                Cs=grid, cv=5, scoring="neg_log_loss", l1_ratios=(0,), use_legacy_attributes=False,
                **common,
            )  # fmt: skip
            logistic_cv = seconds(lambda: model.fit(one_hot, codes[:, 0]))  # noqa: B023
        print(
            f"{name:<12}{len(codes):>7}{one_hot.shape[1] * data.variables[0].card:>7}"
            f"{once:>8.2f}{logistic:>8.2f}{logistic / once:>7.1f}"
            f"{chosen:>9.2f}{logistic_cv:>9.2f}{logistic_cv / chosen:>7.1f}",
            flush=True,
        )


def quality() -> None:
    for name in QUALITY:
        data = split(name)
        for learner in ("nb", "tan-cmi"):
            structure = learned(data, learner, 2, None)[0].structure
            print(f"\n{name}, {learner:<28}{'test %':>8}{'log P(c|x)':>12}{'steps':>7}{'s':>8}")
            for parameters in LEARNERS:
                began = time.process_time()
                network, report = learn_parameters(data, structure, parameters=parameters)
                took = time.process_time() - began
                right, likelihood = held_out(network, data)
                print(
                    f"{parameters:<38}{right:>8.2f}{likelihood:>12.3f}{report.iterations:>7}"
                    f"{took:>8.2f}",
                    flush=True,
                )


def priors() -> None:
    learners, structures = ("ml", "cl:prior=ml", "cl"), ("nb", "tan-cmi", "local-search")
    found: dict[tuple[str, str], list[list[float]]] = {}
    print("accuracy in per cent, log-loss: " + ", ".join(learners))
    for name in PRIORS:
        for structure in structures:
            shown = []
            for learner in learners:
                means = np.mean(list(_folds(name, structure, learner)), axis=0).tolist()
                found.setdefault((structure, learner), []).append(means)
                shown.append(_show(means))
            print(f"{name:<14}{structure:<14}{''.join(shown)}", flush=True)
    for structure in structures:
        means = (_show(np.mean(found[structure, learner], axis=0)) for learner in learners)
        print(f"{'mean':<14}{structure:<14}{''.join(means)}")


def _folds(name: str, structure: str, parameters: str) -> Iterator[tuple[float, float]]:
    """Accuracy in per cent and log-loss of each fold; the search always finds the same."""
    table = complete(load_dataset(name))
    settings = make_settings(
        score="sm", p=0.95, validation="loo", class_parents=False, max_parents=2,
        method=structure, parameters=parameters,
    )  # fmt: skip
    if structure == LocalSearch.name:
        settings = replace(settings, method=LocalSearch(patience=100))
    for train, test in stratified_folds(3, 0).split(table.features, table.target):
        model = learn_classifier(part(table, train), settings)
        rate, loss = accuracy_and_loss(model, part(table, test))
        yield 100 * rate, loss


def _show(means: Sequence[float]) -> str:
    accuracy, loss = means
    return f"{accuracy:>9.2f}{loss:>8.4f}"


def run(only: str = "") -> None:
    if only == "priors":
        priors()
        return
    speed()
    quality()
