"""Exchange of models with other tools, with one module per format."""

from milpbn.interchange.export import FILE_FORMATS, FORMATS, export_network, export_structure
from milpbn.interchange.structure_file import read_network, read_structure

__all__ = [
    "FILE_FORMATS",
    "FORMATS",
    "export_network",
    "export_structure",
    "read_network",
    "read_structure",
]
