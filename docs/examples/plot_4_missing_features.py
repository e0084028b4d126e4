"""
Missing features
================

A Bayesian network is a model of all variables. When a feature is missing in a new row, it is
summed out exactly; nothing has to be filled in. This example takes away more and more features
from the test rows of the ``breast`` data and compares accuracies.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from milpbn import BNClassifier, load_dataset

# %%
# Train on two thirds of the complete rows. For the logistic regression, missing features are
# replaced by the means of the training rows. The exact structure is within 2 % of the optimal
# soft margin.

breast = load_dataset("breast")
complete = breast.features.dropna()
train, test, y_train, y_test = train_test_split(
    complete, breast.target[complete.index], test_size=1 / 3, random_state=0
)
models = {
    "naive Bayes": BNClassifier(method="nb"),
    "naive Bayes, CL parameters": BNClassifier(method="nb", parameters="cl"),
    "TAN": BNClassifier(method="tan-cmi", class_parents=False),
    "exact soft margin": BNClassifier(class_parents=False, gap=0.02),
    "logistic regression": make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
}
for model in models.values():
    model.fit(train, y_train)

# %%
# A missing feature is NaN. The fewer features are known, the closer the probabilities come to
# those of the classes alone.

row = test.iloc[[0]].copy()
for known in range(len(row.columns), -1, -2):
    row.iloc[:, known:] = np.nan
    print(f"{known:2d} features known:", models["exact soft margin"].predict_proba(row).round(3)[0])

# %%
# Now take features away at random, different ones in each row, five times for each number.

rng = np.random.default_rng(0)
counts = range(test.shape[1])
accuracy = {name: [] for name in models}
for n_missing in counts:
    tests = [test.mask(rng.random(test.shape).argsort(axis=1) < n_missing) for _ in range(5)]
    for name, model in models.items():
        accuracy[name].append(np.mean([model.score(rows, y_test) for rows in tests]))

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "osD^v", strict=True):
    axes.plot(counts, 100 * np.array(values), marker=marker, label=name)
axes.set_xlabel("missing features per test row")
axes.set_ylabel("accuracy in %")
axes.grid(axis="y", alpha=0.3)
axes.legend(frameon=False)

# %%
# With all features known, the models differ by a handful of the 228 test rows. As features go,
# the logistic regression with filled-in means loses most. Discriminative parameters lose more
# than maximum-likelihood parameters of the same structure, because they are tuned to rows with all
# features: compare the two lines of naive Bayes.
#
# ``milpbn missing-curve`` runs this experiment from the command line, and
# :class:`~milpbn.evaluation.missing_curve.MissingCurve` in Python.
