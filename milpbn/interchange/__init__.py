"""Models for other tools and from them: one file per format."""

from milpbn.interchange.export import FORMATS, export_network, export_structure
from milpbn.interchange.structure_file import read_network, read_structure

__all__ = ["FORMATS", "export_network", "export_structure", "read_network", "read_structure"]
