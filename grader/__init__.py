"""Grades attention homework: runs it apart from the answers, compares, and says what is wrong."""

__version__ = "0.1.0"
