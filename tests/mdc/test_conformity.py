"""scikit-learn's own checks, for GBNC and the baselines."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from milpbn.mdc import BinaryRelevance, ClassifierChains, ClassPowerset, GBNCClassifier

JOINT = GBNCClassifier(loss="subset")
FAILURES = {
    "check_classifier_multioutput": "the most probable joint state need not consist of the modes "
    "of predict_proba"
}
WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "rows are held out, not their copies",
    "check_sample_weight_equivalence_on_sparse_data": "rows are held out, not their copies",
}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@quiet
@parametrize_with_checks(
    [GBNCClassifier(loss="hamming", max_parents=1)],
    expected_failed_checks=lambda estimator: WEIGHTS,
)
def test_gbnc_conforms(estimator, check):
    check(estimator)


@pytest.mark.slow
@quiet
@parametrize_with_checks(
    [JOINT, BinaryRelevance(), ClassifierChains(n_chains=2), ClassPowerset()],
    expected_failed_checks=lambda estimator: {
        **WEIGHTS,
        **(FAILURES if estimator is JOINT else {}),
    },
)
def test_the_others_conform(estimator, check):
    check(estimator)
