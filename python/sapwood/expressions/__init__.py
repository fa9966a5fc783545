"""Expressions of branches in Python's syntax."""
