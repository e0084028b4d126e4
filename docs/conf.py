"""How the manual is built. Neither building nor reading it needs a network."""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

import milpbn
from milpbn.cli import cli
from milpbn.datasets import CatalogEntry, load_catalog
from milpbn.search import LEARNERS, make_learner

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_scraper and settings_table

from settings_table import settings_table

project = "milpbn"
author = "The milpbn developers"
project_copyright = author
version = release = milpbn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "paper"]  # the gallery is made from the examples
smartquotes = False  # two hyphens begin an option

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist", "substitution"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 120
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "image_scrapers": ("matplotlib", "gallery_scraper.png_scraper"),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # show what is printed, not the value of the last line
    "reference_url": {"milpbn": None},  # names in the code link to the reference
    "run_stale_examples": True,  # an example may break when it has not changed
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"milpbn {release}"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"


def _protocol(found: CatalogEntry) -> str:
    if found.folds:
        return f"{found.folds}-fold"
    kind = {"first": "original", "seeded": f"seed {found.seed}"}.get(found.split, found.split)
    return f"{found.train} / {found.test}, {kind}"


def _catalog_table() -> str:
    """The catalog as a table, so that the manual cannot disagree with the data."""
    lines = [
        "| name | rows | complete | features | numeric | classes | train / test | missing |",
        "|---|--:|--:|--:|--:|--:|---|---|",
    ]
    for name, found in load_catalog().items():
        classes = " x ".join(map(str, found.classes))
        lines.append(
            f"| `{name}` | {found.rows} | {found.complete_rows} | {found.features} | "
            f"{len(found.numeric)} | {classes} | {_protocol(found)} | {found.missing} |"
        )
    return "\n".join(lines)


def _catalog_sources() -> str:
    return "\n\n".join(
        f"`{e.name}`\n: {e.title}. {e.description} Source: {e.source} Licence: {e.licence}."
        for e in load_catalog().values()
    )


def _command_table() -> str:
    """The commands in the sections of ``milpbn --help``, each with a link to its page."""
    lines = []
    for title, commands in cli.sections.items():
        lines += ["| " + title + " | |", "|---|---|"]
        told = ((one.name, one.get_short_help_str(200)) for one in commands)
        lines += [f"| [`milpbn {name}`](commands/{name}.rst) | {text} |" for name, text in told]
        lines.append("")
    return "\n".join(lines)


def _write_command_pages(app: Sphinx) -> None:
    """One page for each command, from its help texts."""
    folder = Path(app.srcdir, "reference", "commands")
    folder.mkdir(exist_ok=True)
    for commands in cli.sections.values():
        for one in commands:
            place = f"{one.callback.__module__}:{one.callback.__name__}"
            text = f".. click:: {place}\n   :prog: milpbn {one.name}\n   :nested: full\n"
            page = folder / f"{one.name}.rst"
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                page.write_text(text, encoding="utf-8")


def _learner_table() -> str:
    lines = ["| name | what it is |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {make_learner(name).title} |" for name in LEARNERS)])


myst_substitutions = {
    "command_table": _command_table(),
    "learner_table": _learner_table(),
    "settings_table": settings_table(),
    "catalog_table": _catalog_table(),
    "catalog_sources": _catalog_sources(),
    "n_data_sets": str(len(load_catalog())),
}


def _inline_math(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _display_math(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def _trim_code(app: Sphinx, doctree: nodes.document) -> None:
    """Doctests end with a blank line, which a reader need not see."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block[:] = [nodes.Text(text)]


def setup(app: Sphinx) -> None:
    """Formulas become MathML, which browsers show by themselves: no script, no download."""
    app.add_html_math_renderer("mathml", (_inline_math, None), (_display_math, None))
    app.connect("builder-inited", _write_command_pages)
    app.connect("doctree-read", _trim_code)
