"""Dask: collections, and work on a cluster."""
