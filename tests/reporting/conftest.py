"""Models to report on, and a headless browser to open reports in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from milpbn import BNClassifier, arc_margins, load_dataset
from milpbn.certainty.alternative_records import Alternative, Alternatives
from milpbn.certainty.stability_records import Stability

EVIL = "<script>document.title='owned'</script>"
QUOTES = "a\"b'c&d"


@pytest.fixture(scope="session")
def iris() -> Any:
    return load_dataset("iris")


@pytest.fixture(scope="session")
def fitted(iris: Any) -> BNClassifier:
    """A proven classifier with everything that a model can have."""
    model = BNClassifier(max_parents=2, class_parents=False).fit(iris.features, iris.target)
    arc_margins(model, iris.features, iris.target)
    best = model.structure_
    same = Alternative(model.objective_, best, 1, 0.95)
    found = Alternatives(2, None, (same, replace(same, score=model.objective_ - 1.0)), None, True)
    stability = Stability(4, 4, "tan-cmi", 0, 0, dict.fromkeys(best.arcs, 3))
    model.model_ = replace(model.model_, alternatives=found, stability=stability)
    return model


@pytest.fixture(scope="session")
def evil() -> tuple[BNClassifier, pd.DataFrame, list[str]]:
    """A classifier whose names, states and labels are HTML."""
    frame = pd.DataFrame(
        {
            EVIL: ["<b>x</b>", "y"] * 20,
            QUOTES: [QUOTES, "<!--", "]]>", "{{ 7 * 7 }}"] * 10,
            "size": range(40),
        }
    )
    labels = ["<img src=x onerror=alert(1)>" if k < 22 else EVIL for k in range(40)]
    return BNClassifier(method="tan-cmi").fit(frame, labels), frame, labels


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium with its driver."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")
    found = [shutil.which(n) for n in ("chromium", "chromium-browser", "google-chrome")]
    binary, driver = next(filter(None, found), None), shutil.which("chromedriver")
    if binary is None or driver is None:
        why = "no Chromium with its driver: install the packages chromium and chromium-driver"
        if os.environ.get("MILPBN_NEEDS_BROWSER"):
            pytest.fail(why)
        pytest.skip(why)
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (
        *("headless", "no-sandbox", "disable-gpu", "no-first-run", "window-size=1200,900"),
        *("disable-background-networking", "disable-component-update", "disable-sync"),
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    # A busy machine may need long for a page.
    started.set_page_load_timeout(120)
    yield started
    started.quit()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")
