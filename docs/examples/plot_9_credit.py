"""
A credit model that can be defended
===================================

Will a loan be repaid? A model for this should be readable, should not contradict what everybody
knows, and should run in a database. This example uses the 1000 loans of Statlog's German credit
data, with their own costs: refusing a good customer costs 1, and accepting a bad one costs 5.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from milpbn import BNClassifier, DataWarning, load_dataset
from milpbn.deployment import write_sql
from milpbn.pictures import plot_effects

warnings.simplefilter("ignore", DataWarning)
german = load_dataset("german")
used = ["status", "credit_history", "savings", "purpose", "duration", "credit_amount", "age"]
X, y = german.features[used], german.target.map({"1": "good", "2": "bad"})
X = X.assign(duration=X["duration"].astype(float))

# %%
# In practice, unknown values often have a code: here, about one customer in twelve gets the age
# -999. The lender distinguishes terms of one, two and three years, and groups of age.

rng = np.random.default_rng(0)
X.loc[rng.random(len(X)) < 1 / 12, "age"] = -999
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

# %%
# The classes in order are ``bad`` and ``good``. The longer the term, the less likely ``good`` may
# be, and the older the customer, the more likely, everything else equal. The search finds the best
# network whose tables all keep this, with a penalty for parameters, and proves it. If the data
# contradict the direction at a cut, the cut is left out, with a note.

model = BNClassifier(
    bins={"duration": [12, 24, 36], "age": [25, 35, 50], "*": "mdlp"},
    special={"age": [-999]},
    min_bin_share=0.05,
    monotone={"duration": "decreasing", "age": "increasing"},
    class_parents=False,
    penalty="bic",
    time_limit=60,
)
with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always", DataWarning)
    model.fit(X_train, y_train)
for note in notes:
    print("note:", note.message)
print(model.result_.status, f"objective {model.objective_:.2f}")
print(model.structure_)
for column in model.encoder_.columns:
    if column.kind == "numeric":
        print(column.in_words(0))

# %%
# A shorter term makes nobody a worse risk, whatever the other features are.

rows = X_test.sample(100, random_state=0)
terms = np.arange(6, 61, 3)
shares = np.array([model.predict_proba(rows.assign(duration=float(t)))[:, 1] for t in terms])
print(f"largest rise of P(good) from term to term: {max(0.0, np.diff(shares, axis=0).max()):.6f}")

plot_effects(model.effects(X_train, ["duration", "age", "status", "savings"]), "credit.png")

# %%
# The score card has points for each state: a form that can be filled in by hand.

print(model.card().to_frame().to_string())

# %%
# Decisions by costs: accepting a bad customer costs 5.

costs = {"bad": {"good": 5}, "good": {"bad": 1}}


def mean_cost(found: np.ndarray) -> float:
    """The mean cost of decisions about the test rows."""
    accepted, refused = (found == "good") & (y_test == "bad"), (found == "bad") & (y_test == "good")
    return float((5 * accepted + refused).mean())


decisions = {
    "accept all": np.full(len(y_test), "good"),
    "refuse all": np.full(len(y_test), "bad"),
    "most probable class": model.predict(X_test),
    "smallest expected cost": model.decide(X_test, costs),
}
print(pd.Series({name: mean_cost(found) for name, found in decisions.items()}).to_string())

# %%
# A customer who is refused may ask why, and what would have to be different. Both answers are
# exact: no smaller set of features fixes the prediction, and no smaller change flips it. Nobody
# can change their age or their past.

refused = X_test[model.predict(X_test) == "bad"].head(2)
for reason, flip in zip(
    model.reasons(refused), model.flips(refused, fixed=["age", "credit_history"]), strict=True
):
    print(reason)
    print(flip)

# %%
# Later, new applications come in. If they look different, the model may no longer fit.

print(model.drift(X_test))
larger = X_test.assign(duration=X_test["duration"] + 12)
print(model.drift(larger).columns[["psi", "chance", "state", "change"]].head(3).to_string())

# %%
# The same model as one SQL query, which needs no Python.

print(write_sql(model.network_, model.encoder_, table="loans")[:1000], "...")
