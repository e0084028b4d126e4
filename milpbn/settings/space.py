"""The settings of the search space."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict

from milpbn.settings.declaration import OptionGroup, Setting
from milpbn.settings.values import Anything, Parsed, Switch, Whole

if TYPE_CHECKING:
    from milpbn.families import Constraints

_space = partial(Setting, OptionGroup.SPACE)


class BudgetNames(TypedDict, total=False):
    """Limits on the structure as a whole, which replace those of the constraints."""

    max_arcs: Annotated[
        int | None,
        _space(Whole(), "Maximum number of arcs.", rare=True, selectable=True),
    ]
    max_features: Annotated[
        int | None,
        _space(
            Whole(),
            "Maximum number of features that have an arc; the others are not used.",
            rare=True,
            selectable=True,
        ),
    ]
    max_parameters: Annotated[
        int | None,
        _space(
            Whole(), "Maximum number of free parameters of the network.", rare=True, selectable=True
        ),
    ]
    max_cost: Annotated[
        int | None,
        _space(
            Whole(),
            "Maximum cost of the features that have an arc; {feature_costs} has the costs.",
            rare=True,
            selectable=True,
        ),
    ]
    feature_costs: Annotated[
        Mapping[str, int] | None,
        _space(
            Parsed("milpbn.families.budgets", "read_feature_costs"),
            "What features cost, as whole numbers: test=5,xray=20. Others cost nothing.",
            rare=True,
            flags="--feature-cost",
            metavar="FEATURE=COST,...",
        ),
    ]


class SpaceNames(BudgetNames, total=False):
    """Which structures are considered."""

    max_parents: Annotated[
        int,
        _space(
            Whole(1),
            "Maximum number of parents per variable, including the class.",
            2,
            selectable=True,
        ),
    ]
    class_parents: Annotated[
        bool,
        _space(
            Switch(),
            "Whether features may be parents of the class.",
            True,
            selectable=True,
            flags="--class-parents/--class-root",
        ),
    ]
    augmented: Annotated[
        bool,
        _space(
            Switch(),
            "Require the class as a parent of every feature that has parents. Optional for "
            "generative scores ({generative_scores}), always on for the others.",
            False,
            rare=True,
            selectable=True,
        ),
    ]
    constraints: Annotated[
        "Constraints | None",
        _space(Anything(), "Required and forbidden arcs, tiers, limits.", flags=""),
    ]
