"""Objects in files other than trees and directories: histograms, graphs, collections, and any other class."""
