"""Histograms filled from expressions."""
