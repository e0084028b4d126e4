"""The examples of the manual are doctests; each page runs in a folder of its own."""

import pytest

# Building the manual runs the examples of the gallery; the other two are built from them.
collect_ignore = ["examples", "gallery", "_build"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Files that an example writes go to a temporary folder."""
    monkeypatch.chdir(tmp_path)
