"""Files, trees and branches, and how they are read."""
