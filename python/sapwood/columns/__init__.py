"""Columns as the core returns them, and the libraries that they are converted to."""
