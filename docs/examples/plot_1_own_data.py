"""
Your own data
=============

This example writes a small, untidy CSV file, reads it, learns a classifier from it and classifies
new rows. Replace the file with yours.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from milpbn import BNClassifier, read_table
from milpbn.pictures import draw_network

# %%
# The file has some common problems: semicolons and decimal commas, a row number, a column that
# never changes, texts among the numbers, empty cells, and a row without a class.

rng = np.random.default_rng(0)
n = 300
flu, smoker = rng.random(n) < 0.4, rng.random(n) < 0.3
cough = rng.random(n) < np.select([smoker, flu], [0.8, 0.7], 0.1)
columns = {
    "id": np.arange(1, n + 1),
    "temperature": np.where(flu, 38.1, 36.9) + rng.normal(0, 0.8, n),
    "cough": np.where(cough, "yes", "no"),
    "smoker": np.where(smoker, "yes", "no"),
    "age": rng.integers(18, 90, n),
    "hospital": "north",
    "diagnosis": np.where(flu, "flu", "other"),
}
lines = pd.DataFrame(columns).to_csv(sep=";", decimal=",", float_format="%.1f", index=False)
lines = lines.splitlines()
lines[4] = "4;unknown;yes;yes;26;north;flu"
lines[11] = "11;37,2;;no;54;north;other"
lines[42] = "42;36,6;no;no;38;north;"
path = Path(tempfile.mkdtemp()) / "patients.csv"
path.write_text("\n".join(lines), encoding="utf-8")
print(*lines[:6], sep="\n")

# %%
# :func:`~milpbn.read_table` decides what each column is. The notes report the decisions, and how
# to change them.

table = read_table(path, "diagnosis")
for note in table.notes:
    print("-", note)

# %%
# Here ``temperature`` is a number, and "unknown" stands for a missing one.

table = read_table(path, "diagnosis", numeric=["temperature"])
print(table.features.head())

# %%
# :class:`~milpbn.BNClassifier` applies the same rules to columns, so nothing changes here. Numeric
# columns are cut into intervals by MDLP. A column without a useful cut is left out of the model,
# here ``age``. A missing value is a state of its own, so that all rows are used. What is left out
# is reported as a ``milpbn.DataWarning``.

model = BNClassifier(class_parents=False).fit(table.features, table.target)
for variable in model.encoder_.variables:
    print(f"{variable.name:12}", *variable.states, sep="  ")
print(f"optimal: {model.optimal_}, objective {model.objective_:.3f}, bound {model.bound_:.3f}")
draw_network(model.structure_, "network.png", title="Patients: the optimal network")

# %%
# New rows need the same columns. A missing value takes the state for missing values, if its column
# has one; otherwise it is summed out, and so are categories that were never seen in training.

rows = [(39.1, "yes", "no", 44), (39.1, "yes", "yes", 44), (np.nan, "sometimes", "no", 67)]
new = pd.DataFrame(rows, columns=table.features.columns)
probabilities = pd.DataFrame(model.predict_proba(new).round(3), columns=model.classes_)
print(new.assign(prediction=model.predict(new)).join(probabilities))
