"""Tables from the bundled catalog, from generators and from the user's own files."""

from milpbn.datasets.assemble import table_from_frame
from milpbn.datasets.catalog import (
    CatalogEntry,
    data_root,
    entry,
    load_catalog,
    load_dataset,
    load_frame,
)
from milpbn.datasets.join import add_test_rows
from milpbn.datasets.readers import read_features, read_table
from milpbn.datasets.table import Table

__all__ = [
    "CatalogEntry",
    "Table",
    "add_test_rows",
    "data_root",
    "entry",
    "load_catalog",
    "load_dataset",
    "load_frame",
    "read_features",
    "read_table",
    "table_from_frame",
]
