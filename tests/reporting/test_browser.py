"""Reports in a real browser: nothing is requested, nothing is broken, everything can be reached."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milpbn import report
from milpbn.words import probability

webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")


@pytest.fixture(scope="module")
def iris_page(fitted: Any, iris: Any, folder: Path) -> str:
    path = folder / "iris.html"
    report(fitted, path, iris.features, iris.target)
    return path.as_uri()


@pytest.fixture
def opened(browser: Any, iris_page: str) -> Any:
    """The report on iris, just loaded."""
    browser.get(iris_page)
    return browser


def find(page: Any, selector: str) -> Any:
    return page.find_element("css selector", selector)


def press(page: Any, element: Any, key: str) -> None:
    page.execute_script("arguments[0].focus()", element)
    webdriver.ActionChains(page).send_keys(getattr(webdriver.Keys, key)).perform()


def requested(page: Any) -> list[str]:
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def test_no_request_leaves_the_page_and_no_script_fails(browser, iris_page) -> None:
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(iris_page)
    assert {url for url in requested(browser) if not url.startswith("data:")} == {iris_page}
    assert browser.get_log("browser") == []


def test_names_that_are_scripts_do_nothing(browser, evil, folder) -> None:
    model, frame, labels = evil
    path = folder / "evil.html"
    report(model, path, frame, labels)
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert browser.title.endswith("report on a Bayesian network classifier")
    assert browser.find_elements("css selector", "img, main b") == []
    assert len(browser.find_elements("css selector", "script")) == 1
    assert browser.get_log("browser") == []


def test_pointing_at_a_variable_shows_its_table(opened) -> None:
    node = find(opened, ".node.child")
    webdriver.ActionChains(opened).move_to_element(node).perform()
    tip = find(opened, "#tip")
    assert tip.is_displayed()
    name = node.get_attribute("aria-label").partition(":")[0]
    assert tip.text.startswith(name)
    webdriver.ActionChains(opened).move_to_element(find(opened, "h1")).perform()
    assert not tip.is_displayed()


def test_tables_are_reached_with_the_keyboard(opened) -> None:
    node = find(opened, ".node.child")
    table = find(opened, f"#{node.get_attribute('data-table')}")
    assert table.get_attribute("open") is None
    press(opened, node, "ENTER")
    assert table.get_attribute("open") is not None
    assert opened.switch_to.active_element == table.find_element("css selector", "summary")


def test_the_network_can_be_zoomed_and_moved(opened) -> None:
    svg = find(opened, "svg.network")

    def view() -> list[float]:
        return [float(x) for x in svg.get_dom_attribute("viewBox").split()]

    whole = view()
    find(opened, "[aria-label='Zoom in']").click()
    assert view()[2] == pytest.approx(whole[2] / 1.25)
    press(opened, find(opened, ".node.class"), "ARROW_RIGHT")
    assert view()[0] > 0
    find(opened, "[data-zoom='0']").click()
    assert view() == whole
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    drag = webdriver.ActionChains(opened).move_to_element(svg)
    drag.click_and_hold().move_by_offset(40, 20).release().perform()
    assert view()[0] < whole[0]
    assert view()[1] < whole[1]
    assert view()[2:] == whole[2:]


def test_all_tables_open_at_once(opened) -> None:
    button = find(opened, "[data-fold='tables']")
    button.click()
    closed = "#tables details:not([open])"
    assert opened.find_elements("css selector", closed) == []
    button.click()
    assert len(opened.find_elements("css selector", closed)) == 5


def test_paper_is_unfolded(opened) -> None:
    closed = "return document.querySelectorAll('details:not([open])').length"
    before = opened.execute_script(closed)
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert opened.execute_script(closed) == 0
    opened.execute_script("dispatchEvent(new Event('afterprint'))")
    assert opened.execute_script(closed) == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_scheme_of_the_reader(opened, scheme) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    style = "return getComputedStyle(document.body).backgroundColor"
    expected = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}
    assert opened.execute_script(style) == expected[scheme]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_narrow_screen_needs_no_sideways_scrolling(opened) -> None:
    size = {"width": 360, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert opened.execute_script("return document.documentElement.scrollWidth") <= 360
    opened.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def choose(page: Any, selector: str, label: str) -> None:
    select = pytest.importorskip("selenium.webdriver.support.select").Select
    select(find(page, selector)).select_by_visible_text(label)


def test_the_page_computes_what_the_classifier_predicts(opened, fitted, iris) -> None:
    row = iris.features.iloc[[0]]
    choose(opened, "#start", "nothing known")
    codes = fitted.encode_rows(row)[0, 1:]
    for code, column in zip(codes, fitted.encoder_.columns, strict=True):
        label = opened.find_element("xpath", f"//section[@id='what-if']//th[.='{column.name}']")
        own = f"select[aria-labelledby='{label.get_attribute('id')}']"
        choose(opened, own, column.readable_states[code])
    assert find(opened, "#predicted").text == fitted.predict(row)[0]
    shares = [cell.text for cell in opened.find_elements("css selector", "#shares td.n")]
    wanted = fitted.predict_proba(row)[0]
    assert shares == [probability(p) for p in wanted]
    total = fitted.explain(row).log_odds.iloc[0]
    assert find(opened, "#total").text == f"{total:+.2f}"


def test_nothing_known_gives_the_class_frequencies(opened, fitted) -> None:
    choose(opened, "#start", "nothing known")
    shares = [cell.text for cell in opened.find_elements("css selector", "#shares td.n")]
    assert shares == [probability(p) for p in np.exp(fitted.network_.log_cpts[0])]
    assert find(opened, "#change").text == "No known feature may change."


def test_the_smallest_change_can_be_applied_and_features_kept(opened) -> None:
    before = find(opened, "#predicted").text
    button = find(opened, "#change button")
    changed = [
        line.text.partition(":")[0] for line in opened.find_elements("css selector", "#change li")
    ]
    told = find(opened, "#change").text
    opened.execute_script("arguments[0].click()", button)
    after = find(opened, "#predicted").text
    assert after != before
    assert told.startswith(f"Then {after} is predicted, with probability ")
    assert find(opened, "#probability").text in told
    for box in opened.find_elements("css selector", "input[data-keep]"):
        opened.execute_script("arguments[0].click()", box)
    assert changed
    assert find(opened, "#change").text == "No known feature may change."
