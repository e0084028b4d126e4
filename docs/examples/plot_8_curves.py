"""
Curves: smooth effects of numbers
=================================

A network has a table for every variable, so numbers are cut into bins. With few bins, the table is
easy to read, but a value just below a cut counts differently from one just above it. With fine bins
and smooth effects, the tables become curves over the user's own units, as in an additive model, and
the classifier is still a Bayesian network.
"""

from sklearn.model_selection import train_test_split

from milpbn import BNClassifier, load_dataset
from milpbn.pictures import plot_effects, plot_waterfall

# %%
# The diabetes data: eight measurements of 768 patients, as raw numbers.

table = load_dataset("diabetes")
X, y = table.features, table.target
print(X.describe().loc[["min", "50%", "max"]].to_string())
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# ``bins="fine"`` cuts every number into up to 24 bins with about the same number of rows, and the
# prior of ``parameters="cl"`` penalises differences between neighbouring bins. ``tan-residual``
# adds arcs between features where naive Bayes leaves something unexplained.

curves = BNClassifier(method="tan-residual", bins="fine", parameters="cl")
curves.fit(X_train, y_train)
coarse = BNClassifier(method="tan-cmi").fit(X_train, y_train)
for name, model in {"few bins": coarse, "curves": curves}.items():
    log_proba = model.predict_log_proba(X_test)
    own = (model.classes_ == y_test.to_numpy()[:, None]).argmax(axis=1)
    loss = -log_proba[range(len(own)), own].mean()
    share = 100 * model.score(X_test, y_test)
    print(f"{name}: accuracy {share:.1f} %, log-loss {loss:.3f} on new rows")

# %%
# What each value adds to the log-odds of diabetes. The grey bars show where the patients are.

plot_effects(curves.effects(X_train), "effects.png", title="added to the log-odds of diabetes")

# %%
# One patient: the contributions lead from the class frequencies to the prediction.

explanation = curves.explain(X_test.iloc[[0]])
print(explanation.row(0).round(2).head(4).to_string())
plot_waterfall(explanation, "patient.png")
