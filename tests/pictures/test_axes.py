"""Pictures of fitted classifiers in given axes, as notebooks draw them."""

from __future__ import annotations

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from milpbn import BNClassifier, load_dataset
from milpbn.errors import OptionError
from milpbn.pictures import plot_gap, plot_network


@pytest.fixture(scope="module")
def model() -> BNClassifier:
    iris = load_dataset("iris")
    return BNClassifier(max_parents=1).fit(iris.features, iris.target)


@pytest.fixture(autouse=True)
def no_window():
    before = mpl.get_backend()
    mpl.use("agg", force=True)
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
    mpl.use(before, force=True)


def test_the_gap_of_a_classifier_in_axes(model) -> None:
    axes = Figure().subplots()
    for learned in (model, model.model_, model.result_):
        axes.clear()
        assert plot_gap(learned, ax=axes) is axes
        assert axes.get_ylabel() == "SM"
    assert plot_gap(model.result_.trace, ax=axes, score_name="score") is axes
    assert axes.get_ylabel() == "score"


def test_the_gap_goes_to_a_file_or_into_axes(model, tmp_path) -> None:
    assert plot_gap(model, tmp_path / "gap.svg") is None
    assert (tmp_path / "gap.svg").exists()
    with pytest.raises(OptionError, match="path or ax, not both"):
        plot_gap(model, tmp_path / "gap.svg", ax=Figure().subplots())


def test_the_network_of_a_classifier_in_axes(model) -> None:
    axes = Figure(figsize=(3, 2)).subplots()
    for learned in (model, model.model_, model.result_, model.structure_):
        axes.clear()
        assert plot_network(learned, ax=axes, title="iris") is axes
        texts = {text.get_text() for text in axes.texts}
        assert {"iris", *model.structure_.variables} <= texts


def test_texts_shrink_with_the_axes(model) -> None:
    sizes = []
    for width in (12, 3, 1.5):
        axes = Figure(figsize=(width, width)).subplots()
        plot_network(model, ax=axes)
        sizes.append(max(text.get_fontsize() for text in axes.texts))
    assert sizes[0] == pytest.approx(11)  # the class in a picture of full size
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[1] == pytest.approx(2 * sizes[2])


def test_without_axes_there_is_a_new_figure(model) -> None:
    import matplotlib.pyplot as plt

    first, second = plot_network(model), plot_gap(model)
    assert {first.figure.number, second.figure.number} == set(plt.get_fignums())


def test_a_multinet_has_no_single_network() -> None:
    iris = load_dataset("iris")
    model = BNClassifier(method="multinet-cmi").fit(iris.features, iris.target)
    with pytest.raises(OptionError, match="one network per class"):
        plot_network(model)
    plot_network(model.structure_.structures[0], ax=Figure().subplots())
