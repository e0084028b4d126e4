"""A model as one HTML file that colleagues can open anywhere."""

from milpbn.reporting.page import html_report, report

__all__ = ["html_report", "report"]
