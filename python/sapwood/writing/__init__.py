"""Files, trees and objects that are written."""
