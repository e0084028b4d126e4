"""
Constraints and what they cost
==============================

Arcs can be required or forbidden, and variables can be put into an order. Each optimum is proven,
so the difference between two optima is exactly what a constraint costs.
"""

import matplotlib.pyplot as plt

from milpbn import BNClassifier, Constraints, load_dataset
from milpbn.pictures import draw_network

# %%
# The ``diabetes`` data describe 768 women by eight numbers. Without constraints, features may be
# parents of each other and of the class.

diabetes = load_dataset("diabetes")
free = BNClassifier().fit(diabetes.features, diabetes.target)
print(free.structure_)
print(f"objective {free.objective_:.3f}, optimal: {free.optimal_}")

# %%
# Six constraints, one at a time. Forbidding an arc that the optimum uses may cost little, because
# another structure describes the data nearly as well. Tiers say that no arc leads from a later
# group to an earlier one.

background, measured = ["class", "age", "pedigree", "pregnant"], ["mass", "glucose", "insulin"]
features = [v.name for v in free.encoder_.variables[1:]]
constraints = {
    "forbid insulin -> mass": Constraints(forbidden=["insulin->mass"]),
    "forbid class -> insulin": Constraints(forbidden=["class->insulin"]),
    "require glucose -> class": Constraints(required=["glucose->class"]),
    "require age -> pregnant": Constraints(required=["age->pregnant"]),
    "background before measurements": Constraints(tiers=[background, measured]),
    "one parent per feature": Constraints(max_parents=dict.fromkeys(features, 1)),
}
models = {
    name: BNClassifier(constraints=rules).fit(diabetes.features, diabetes.target)
    for name, rules in constraints.items()
}
cost = {name: free.objective_ - model.objective_ for name, model in models.items()}
for name, model in models.items():
    print(f"{name:32}objective {model.objective_:8.3f}   cost {cost[name]:7.3f}   {model.optimal_}")

# %%
# The objective is the soft margin, a sum over the training rows. Four of the six
# constraints cost less than one per cent of it.

figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
order = sorted(cost, key=lambda name: cost[name], reverse=True)
bars = axes.barh(order, [cost[name] for name in order], color="#0072B2")
axes.bar_label(bars, fmt="%.2f", padding=3)
axes.spines[["top", "right"]].set_visible(False)
axes.set_xlabel("loss of soft margin against the unconstrained optimum")
axes.margins(x=0.15)

# %%
# This is the network with the background variables first.

ordered = models["background before measurements"]
draw_network(ordered.structure_, "ordered.png", title="diabetes: background before measurements")
