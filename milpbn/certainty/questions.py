"""Best structures under side conditions: many questions about one objective.

A question is a set of allowed families, such as those without a given arc. Its answer is an
interval: the best score found, and a bound on all structures that satisfy the condition. All
questions share the objective, the cuts, the linear program and the pseudo-costs. They do not
share fixings, because a family that no optimal structure contains may be part of the answer to
a question; each question fixes families against its own best structure.

The root's multipliers give a first bound for every question at once. If C are the structures
that a question allows,

    max over C  <=  L(y) - sum_i min_{f of i, allowed in C} loss[f].

Bounds are also passed on. If no structure with an arc scores more than b, a question whose best
structure scores b or more needs no structure with that arc. If no structure without an edge does,
it needs only structures with the edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from milpbn._types import BoolArray, Families
from milpbn.anytime import Progress, SolveOptions
from milpbn.certainty.conditions import Condition, Restricted
from milpbn.clock import Clock, OutOfTime
from milpbn.engines.branch_and_cut.engine import BranchAndCut
from milpbn.engines.branch_and_cut.node_processor import NodeProcessor
from milpbn.engines.branch_and_cut.primal import Primal
from milpbn.engines.branch_and_cut.rows import Edge
from milpbn.engines.branch_and_cut.tree import Tree
from milpbn.errors import ConstraintError
from milpbn.families.feasibility import Feasibility
from milpbn.scores import Objective

# The share of the time in which structures are looked for before any tree is begun, and the
# unsuccessful kicks per question. A few are enough: what is found for one serves many others.
_SEARCH_SHARE = 0.2
_KICKS = 2


@dataclass
class Question:
    """What is the best score under a condition?

    Attributes
    ----------
    condition
        The condition.
    progress
        The best structure found, and the bound.
    seconds
        The time that was spent.
    effort
        The tree and its primal heuristics, while the question is open.
    """

    condition: Condition
    progress: Progress
    seconds: float = 0.0
    effort: tuple[Tree, Primal] | None = field(default=None, repr=False)

    @property
    def closed(self) -> bool:
        """Whether the answer is proven, at the usual tolerance, or no structure is allowed."""
        bound, value = self.progress.bound, self.progress.value
        found = self.progress.families is not None
        return bound == -np.inf or (found and bound - value <= self.progress.slack)


class QuestionSolver:
    """Finds the best structures under many conditions, one after the other.

    Parameters
    ----------
    objective
        The objective over all candidate families. No family may have been pruned: pruning is
        valid for the optimum, but not for the best structure with a given arc.
    best
        A structure that is optimal or good.
    conditions
        The questions.
    bound
        A bound on the score of every structure, if one is known.
    clock
        The time for everything.
    seed
        Random seed for the primal heuristics.
    """

    def __init__(
        self,
        objective: Objective,
        best: Families,
        conditions: Iterable[Condition],
        *,
        bound: float = np.inf,
        clock: Clock | None = None,
        seed: int = 0,
    ) -> None:
        self.objective = objective
        self.space = objective.space
        self.best = np.array(best, dtype=np.int64)
        self.clock = clock or Clock()
        self.seed = seed
        most = objective.quick_bound()
        price = 10.0 * (1.0 + abs(objective.value(self.best)) + abs(most))
        self.questions: list[Question] = []
        for condition in conditions:
            restricted = Restricted(objective, condition, price)
            progress = Progress(restricted, self.clock, bound=min(bound, most))
            self.questions.append(Question(condition, progress))
        self._main: BranchAndCut | None = None

    def run(self, listener: Callable[[Question], None] = lambda question: None) -> None:
        """Answer the questions until all are closed or the time is over.

        Every open question gets the same share of the remaining time; what it does not need is
        left for the others. A question that is still open continues in the next pass, with the
        bounds that the others have found by then.

        Parameters
        ----------
        listener
            Called after each piece of work on a question.
        """
        try:
            self._begin()
            while waiting := sorted((q for q in self.questions if not q.closed), key=_rank):
                for k, question in enumerate(waiting):
                    self.clock.checkpoint()
                    if not question.closed:
                        self._spend(question, self._share(len(waiting) - k), self._branch)
                    listener(question)
        except OutOfTime:
            pass

    def _share(self, waiting: int) -> float:
        """Seconds for the next of the questions that are waiting."""
        return self.clock.remaining / waiting

    def offer(self, families: Families, source: str) -> None:
        """Offer a structure as an answer to every question that it satisfies."""
        for question in self.questions:
            if question.condition.holds(self.space, families):
                question.progress.incumbent(families, source)

    def _begin(self) -> None:
        """Cuts of the root, a bound for every question from its multipliers, first structures."""
        self._exchange()
        progress = Progress(self.objective, self.clock, bound=self.objective.quick_bound())
        progress.incumbent(self.best, "given")
        main = BranchAndCut(self.objective, progress, SolveOptions(seed=self.seed))
        main.processor.close_root(main.tree.root)
        self._main, relaxation = main, main.processor.relaxation
        # Families were fixed against the best structure: the questions need them again.
        relaxation.restrict(np.ones(len(self.space), dtype=bool))
        point = relaxation.solve()
        relaxation.begin_here()
        assert point is not None, "a space without any structure cannot be built"
        for question in self.questions:
            loss = question.condition.least_loss(self.space, point.loss)
            question.progress.improve_bound(point.bound - loss, 0, "root")
        self._search()

    def _exchange(self) -> None:
        """First structures: the best one with another family for one variable."""
        graph, state = Feasibility(self.space), self.objective.state(self.best)
        for v in range(self.space.n_variables):
            candidates = graph.candidates(self.best, v)
            order = np.argsort(-state.scores(v, candidates), kind="stable")
            ordered = candidates[order]
            for question in (q for q in self.questions if q.condition.child == v):
                self.clock.checkpoint()
                condition = question.condition
                fitting = ordered[condition.fits(self.space, ordered, condition.parent)]
                if len(fitting):
                    changed = self.best.copy()
                    changed[v] = fitting[0]
                    question.progress.incumbent(changed, "exchange")

    def _search(self) -> None:
        """Look for good structures for all questions: they are offered to the others, too."""
        end = self.clock.elapsed + _SEARCH_SHARE * self.clock.remaining
        waiting = [q for q in self.questions if not q.closed]
        for k, question in enumerate(waiting):
            self.clock.checkpoint()
            share = max(end - self.clock.elapsed, 0.0) / (len(waiting) - k)
            self._spend(question, share, _look)

    def _spend(
        self, question: Question, seconds: float, work: Callable[[Tree, Primal], None]
    ) -> None:
        """Work on a question for some seconds, and offer what was found to the others."""
        began = self.clock.elapsed
        question.progress.clock = self.clock.until(began + seconds)
        try:
            if question.progress.families is None and not self._find_any(question):
                question.progress.bound = -np.inf
                return
            if question.effort is None:
                question.effort = self._plant(question)
            work(*question.effort)
        except OutOfTime:
            self.clock.checkpoint()
        finally:
            question.seconds += self.clock.elapsed - began
            if question.progress.families is not None:
                self.offer(question.progress.families, "other question")
            if question.closed:
                question.effort = None

    def _find_any(self, question: Question) -> bool:
        """Find a structure that satisfies the condition; False if there is none."""
        families = np.flatnonzero(question.condition.allowed(self.space))
        try:
            found = families[self.space.select(families).feasible_families()]
        except ConstraintError:
            return False
        # No structure needs less of any budget (see `feasible_families`).
        return question.progress.incumbent(found, "any-feasible")

    def _plant(self, question: Question) -> tuple[Tree, Primal]:
        progress = question.progress
        tree = Tree(progress, 0.0, len(self.space))
        tree.root.allowed = question.condition.allowed(self.space)
        return tree, Primal(progress.objective, progress, self.seed, tree.checkpoint)

    def _branch(self, tree: Tree, primal: Primal) -> None:
        """Begin with the tree of a question, or continue with it."""
        main = self._main
        assert main is not None
        processor = NodeProcessor(
            tree, main.oracle, main.processor.relaxation, main.brancher, primal
        )
        removed, edges = self._fixings(tree)
        if tree.count:
            tree.reopen(removed, edges)
            processor.work(tree.next(None))
            return
        tree.count, root = 1, tree.root
        root.allowed, root.edges = root.allowed & ~removed, edges
        point = processor.process(root)
        processor.work(tree.next(tree.close(root, processor.children_of_root(root, point))))

    def _fixings(self, tree: Tree) -> tuple[BoolArray, frozenset[Edge]]:
        """Families and edges that the bounds of the other questions decide.

        If no structure with an arc is above the cutoff, the families with the arc can go. If no
        structure without an edge is above the cutoff, the edge is required.
        """
        removed, edges = np.zeros(len(self.space), dtype=bool), set()
        for other in self.questions:
            bound, condition = other.progress.bound, other.condition
            if not bound <= tree.cutoff:
                continue
            tree.settle(bound)
            if condition.present:
                own = self.space.of(condition.child)
                with_arc = condition.fits(self.space, own, condition.parent)
                removed[own.start : own.stop] |= with_arc
            else:
                edges.add(condition.edge)
        return removed, frozenset(edges)


def _look(_: Tree, primal: Primal) -> None:
    primal.search_widely(primal.search.progress.clock.remaining, _KICKS)


def _rank(question: Question) -> tuple[bool, float]:
    """Arcs of the best structure first; then the worst, whose bounds help the others."""
    return question.condition.present, question.progress.value
