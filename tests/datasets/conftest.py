from __future__ import annotations

import pytest


@pytest.fixture
def write(tmp_path):
    """Write a small file and return its path."""

    def write_file(content: str | bytes, name: str = "toy.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
