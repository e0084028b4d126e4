"""
A proven network in ten lines
=============================

The exact engine learns a network for the ``heart`` data and proves that no other network of its
search space has a higher soft margin. This is the example of the manual's first page.
"""

import matplotlib.pyplot as plt

from milpbn import BNClassifier, load_dataset
from milpbn.pictures import plot_gap, plot_network

heart = load_dataset("heart")
model = BNClassifier(class_parents=False, time_limit=None)
model.fit(heart.features, heart.target)
print(model.optimal_, round(model.objective_, 3), round(model.bound_, 3))

# %%
# The network, and the proof over time: the bound falls until it meets the objective.
figure, (above, below) = plt.subplots(
    2, figsize=(9, 6.4), height_ratios=(2, 3), layout="constrained"
)
plot_network(model, ax=above)
plot_gap(model, ax=below)
figure.savefig("first-network.png", dpi=110)
