"""Classifiers as code that runs without Python: SQL, JavaScript and ONNX."""

from milpbn.deployment.javascript import write_javascript
from milpbn.deployment.onnx_graph import make_onnx
from milpbn.deployment.sql import write_sql

__all__ = ["make_onnx", "write_javascript", "write_sql"]
