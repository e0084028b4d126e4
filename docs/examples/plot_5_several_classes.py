"""
Several class variables
=======================

The ``Jura`` data describe 359 places by nine measurements of the soil, and ask for two class
variables: land use and rock type. :class:`~milpbn.GBNCClassifier` learns the network between the
class variables exactly and predicts them together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import KFold

from milpbn import GBNCClassifier
from milpbn.datasets import load_frame
from milpbn.mdc import BinaryRelevance, exact_match_score, hamming_score

# %%
# The optimal class network has an arc: rock type (``class_2``) depends on the features and on
# land use (``class_1``). With ``validation=None`` the network is scored by the penalised likelihood
# of the training rows; the default, held-out rows, would leave out this arc.

jura = load_frame("mdc/Jura")
Y = jura[["class_1", "class_2"]]
X = jura.drop(columns=Y.columns)
model = GBNCClassifier(validation=None).fit(X, Y)
print(model.structure_)
print(f"optimal: {model.optimal_}, objective {model.objective_:.3f}, bound {model.bound_:.3f}")

# %%
# With ``loss="subset"`` (the default) the prediction is the most probable combination; with
# ``loss="hamming"`` it is the most probable state of each class variable. The loss concerns
# predictions only, so one fitted model serves both. At the first place where they differ, land
# use 3 is more probable over all rock types, but the most probable combination has land use 2.

combination = model.predict(X)
single = model.set_params(loss="hamming").predict(X)
place = int(np.flatnonzero((combination != single).any(axis=1))[0])
uses, rocks = model.classes_
pairs = [[use, rock] for use in uses for rock in rocks]
joint = np.exp(model.predict_joint_log_proba(X.iloc[[place] * len(pairs)], pairs))

figure, axes = plt.subplots(figsize=(5, 3.8), layout="constrained")
image = axes.imshow(joint.reshape(len(uses), len(rocks)), cmap="Blues", vmin=0)
for loss, predicted, marker in (("subset", combination, "o"), ("hamming", single, "s")):
    use, rock = predicted[place]
    at = list(rocks).index(rock), list(uses).index(use)
    axes.scatter(*at, 300, marker=marker, fc="none", ec="#D55E00", lw=2, label=f"loss={loss!r}")
axes.set(xlabel="rock type", ylabel="land use", title=f"place {place}: joint probability")
axes.set_xticks(range(len(rocks)), rocks)
axes.set_yticks(range(len(uses)), uses)
figure.colorbar(image)
figure.legend(loc="outside lower center", ncols=2, frameon=False)

# %%
# Binary relevance trains one classifier per class variable and cannot see such dependencies. In
# cross-validation GBNC gets more places completely right (exact match), and about as many single
# class values (Hamming score). The folds differ much more than the methods do: the data are few.

scores = {"binary relevance": [], "GBNC, loss='hamming'": [], "GBNC, loss='subset'": []}
for train, test in KFold(10, shuffle=True, random_state=0).split(X):
    truth = Y.iloc[test].to_numpy()
    relevance = BinaryRelevance().fit(X.iloc[train], Y.iloc[train])
    predictions = {"binary relevance": relevance.predict(X.iloc[test])}
    model.fit(X.iloc[train], Y.iloc[train])
    for loss in ("hamming", "subset"):
        predictions[f"GBNC, {loss=}"] = model.set_params(loss=loss).predict(X.iloc[test])
    for name, predicted in predictions.items():
        scores[name].append((exact_match_score(truth, predicted), hamming_score(truth, predicted)))

print(f"{'mean ± deviation of 10 folds':30}exact match    Hamming score")
for name, folds in scores.items():
    exact, hamming = np.transpose(folds)
    print(f"{name:29}{exact.mean():.3f} ± {exact.std():.3f}", end="    ")
    print(f"{hamming.mean():.3f} ± {hamming.std():.3f}")
