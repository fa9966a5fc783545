"""Files made from other files: merge, optimize, recover."""
