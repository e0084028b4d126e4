"""Take the pictures of reports that the manual shows, with a headless Chromium.

Usage: ``python docs/screenshots.py``, after ``docs/refresh.py docs/howto/report.md``. For each
``_static/report-NAME.html`` the beginning of the page becomes ``images/report-NAME.png``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from selenium import webdriver

DOCS = Path(__file__).parent
WIDTH = 1100
HEIGHTS = {"heart": 1500, "spambase": 1360}
FLAGS = (
    *("headless", "no-sandbox", "disable-gpu", "hide-scrollbars", "force-device-scale-factor=1"),
    *("no-first-run", "disable-background-networking", "disable-component-update"),
)


def screenshot(name: str) -> None:
    """Take one picture."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"window-size={WIDTH},{HEIGHTS[name]}"):
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        browser.get((DOCS / "_static" / f"report-{name}.html").resolve().as_uri())
        browser.save_screenshot(str(DOCS / "images" / f"report-{name}.png"))


if __name__ == "__main__":
    for each in HEIGHTS:
        screenshot(each)
