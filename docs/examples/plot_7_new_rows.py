"""
A classifier that holds up on new rows
======================================

A structure can be optimal on the training rows and still be worse than always predicting the most
frequent class. This example shows such a table, why it happens, and what to do about it.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from milpbn import BNClassifier, BNClassifierCV
from milpbn.pictures import draw_network, plot_selection

# %%
# The customers of a company, and which of them have left. Contract, calls to the help line,
# payment, discount and the time since the sign-up matter. The two dates and the city have many
# different values.

rng = np.random.default_rng(7)
n = 1200
signup = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 1095, n), "D")
last_login = signup + pd.to_timedelta(rng.integers(1, 400, n), "D")
tenure = (pd.Timestamp("2025-01-01") - signup).days / 30
contract = rng.choice(["monthly", "yearly", "two years"], n, p=[0.5, 0.35, 0.15])
calls = rng.poisson(np.where(contract == "monthly", 1.4, 0.8))
discount = rng.random(n) < 0.3
payment = rng.choice(["card", "invoice", "debit"], n)
log_odds = (
    -1.5
    - 0.08 * tenure
    + 1.8 * calls * (contract == "monthly")
    + 0.4 * calls
    + 1.0 * (payment == "invoice")
    - 1.8 * discount
)
left = rng.random(n) < 1 / (1 + np.exp(-log_odds))
customers = pd.DataFrame(
    {
        "signup": signup.strftime("%Y-%m-%d"),
        "last_login": last_login.strftime("%Y-%m-%d"),
        "city": [f"city {k}" for k in rng.zipf(1.3, n) % 400],
        "contract": contract,
        "payment": payment,
        "discount": np.where(discount, "yes", "no"),
        "calls": calls,
        "charge": (rng.normal(40, 12, n)).round(2),
        "left": np.where(left, "yes", "no"),
    }
)
print(customers.nunique().to_string())

X, y = customers.drop(columns="left"), customers["left"]
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.25, random_state=0, stratify=y
)


def report(what, model):
    """Print the size of a network, and the share of rows that it classifies correctly."""
    train, new = (100 * model.score(*rows) for rows in ((X_train, y_train), (X_test, y_test)))
    size = model.network_.n_parameters
    print(f"{what}: {size} parameters, training rows {train:.1f} %, new rows {new:.1f} %")


print(f"{len(X_train)} training rows")
print(f"always 'no': new rows {100 * (y_test == 'no').mean():.1f} %")

# %%
# First, the columns as they are. The network with the best soft margin treats every date and every
# city as a category, and memorises the training rows.

warnings.simplefilter("ignore")
plain = BNClassifier(dates="keep", max_states=None, class_parents=False, time_limit=30)
plain.fit(X_train, y_train)
report("columns as they are", plain)

# %%
# By default milpbn turns dates into numbers and pools rare states. The warnings say so; here they
# are silenced. With ``validation="loo"``, each row is scored with parameters that are learned from
# the other rows, so that a column only counts if it helps with rows that were not used.

held_out = BNClassifier(validation="loo", class_parents=False, gap=0.01, time_limit=30)
report("held-out margins", held_out.fit(X_train, y_train))

# %%
# :class:`~milpbn.BNClassifierCV` chooses ``p``, the penalty and the number of parents itself, and
# learns discriminative parameters.

selected = BNClassifierCV(gap=0.01, time_limit=60).fit(X_train, y_train)
report("selected", selected)
print(selected.selection_)

# %%
# How the candidates predicted held-out rows, and the network of the chosen settings:

plot_selection(selected.selection_, "candidates.png")
draw_network(selected.structure_, "network.png")
