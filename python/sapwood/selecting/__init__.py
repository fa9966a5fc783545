"""Selectors: code that is run over the entries of trees and chains, like ROOT's ``TSelector``."""
