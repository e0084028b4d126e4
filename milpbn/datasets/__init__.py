"""Where tables come from: the bundled catalog, generators, and a user's own files."""

from milpbn.datasets.assemble import table_from_frame
from milpbn.datasets.catalog import (
    CatalogEntry,
    data_root,
    entry,
    load_catalog,
    load_dataset,
    load_frame,
)
from milpbn.datasets.multi import MultiTable, load_multi_dataset, read_multi_table
from milpbn.datasets.readers import read_features, read_table
from milpbn.datasets.table import MISSING_POLICIES, Table

__all__ = [
    "MISSING_POLICIES",
    "CatalogEntry",
    "MultiTable",
    "Table",
    "data_root",
    "entry",
    "load_catalog",
    "load_dataset",
    "load_frame",
    "load_multi_dataset",
    "read_features",
    "read_multi_table",
    "read_table",
    "table_from_frame",
]
