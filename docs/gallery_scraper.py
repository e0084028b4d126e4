"""Puts the PNG files that an example of the gallery writes on the example's page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def png_scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move what a block of code has drawn next to the page, and return the text that shows it."""
    folder = Path(block_vars["src_file"]).parent  # where examples are run
    moved = [
        shutil.move(picture, target)
        for picture, target in zip(
            sorted(folder.glob("*.png")), block_vars["image_path_iterator"], strict=False
        )
    ]
    return figure_rst(moved, gallery_conf["src_dir"])
