"""What notebooks show: HTML with every name escaped, and an example that runs."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
import sklearn
from html_pages import HtmlPage

from milpbn import BNClassifier, load_dataset

EXAMPLE = Path(__file__).parent.parent / "docs" / "examples" / "notebook.ipynb"
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module", params=["nb", "multinet-cmi"])
def model(request: pytest.FixtureRequest) -> BNClassifier:
    frame = pd.DataFrame({EVIL: ["<b>x</b>", "y"] * 10, "other": ["p", "p", "q", "q"] * 5})
    return BNClassifier(method=request.param).fit(frame, [EVIL, "no"] * 10)


@pytest.mark.parametrize("part", ["result_", "structure_", "network_"])
def test_parts_of_a_classifier_as_html(model, part) -> None:
    html = getattr(model, part)._repr_html_()
    seen = HtmlPage(html).tags
    assert not {"script", "b"} & set(seen)
    assert "&lt;script&gt;" in html
    assert "table" in seen


def test_a_network_shows_its_tables() -> None:
    iris = load_dataset("iris")
    network = BNClassifier(method="nb").fit(iris.features, iris.target).network_
    html = network._repr_html_()
    assert HtmlPage(html).tags.count("details") == len(network.variables)
    assert f"{network.table('petalwidth').iloc[0, 0]:.4f}" in html


def test_the_result_is_inside_the_box_of_scikit_learn(model) -> None:
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        inside = html.index("learned: feasible")
        assert html.index("sk-top-container") < inside < html.rindex("</div></div>")
        assert EVIL not in html
    assert "learned:" not in BNClassifier()._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]


@pytest.mark.skipif(not EXAMPLE.exists(), reason="the manual is not part of an installed package")
def test_the_example_notebook_runs(tmp_path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.read(EXAMPLE, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute(env={**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"})
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]
    shown = [kind for o in outputs for kind in o.get("data", {})]
    assert shown.count("image/png") == 2
    assert shown.count("text/html") >= 2
    assert (tmp_path / "report.html").exists()
