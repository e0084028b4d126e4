"""
Proof and gap
=============

At every moment of a run there is a structure with its score (the objective) and a number that no
structure can exceed (the bound). When the two meet, the structure is proven optimal.
"""

from milpbn import BNClassifier, load_dataset
from milpbn.pictures import plot_gap

# %%
# Learn the best network for the ``cleve`` data (303 patients, 13 attributes) in which the class
# is a root. Without a time limit the search goes on until the proof.

cleve = load_dataset("cleve")
model = BNClassifier(class_parents=False, time_limit=None).fit(cleve.features, cleve.target)
print(model.result_)

# %%
# The trace has one entry for each improvement of the objective or of the bound. The gap is their
# difference relative to the objective. These are the first entry and those at which the gap had
# become ten times smaller:

limit = float("inf")
for point in model.result_.trace:
    if point.gap_rel is not None and point.gap_rel <= limit:
        print(
            f"{point.nodes:4d} nodes  objective {point.objective:8.3f}  "
            f"bound {point.bound:8.3f}  gap {100 * point.gap_rel:9.5f} %  {point.source}"
        )
        limit = point.gap_rel / 10

# %%
# :func:`~milpbn.pictures.plot_gap` draws the whole trace. A heuristic start and the first linear
# programs bring the objective near its final value; after that, time is spent on the bound.

plot_gap(
    model.result_.trace, "gap.png", title="cleve, class-root networks", score_name="soft margin"
)

# %%
# Often a small gap is enough. With ``gap=0.02`` the search stops as soon as the bound is at most
# 2 % above the objective. No structure can be better by more than that.

quick = BNClassifier(class_parents=False, gap=0.02).fit(cleve.features, cleve.target)
print(f"{'':10}{'nodes':>8}{'objective':>12}{'bound':>12}{'gap':>12}")
for name, fitted in (("proof", model), ("gap 2 %", quick)):
    print(
        f"{name:10}{fitted.result_.nodes:8d}{fitted.objective_:12.3f}{fitted.bound_:12.3f}"
        f"{100 * fitted.gap_:10.4f} %"
    )
