"""What users give as arguments: sizes and times, paths, filters, progress."""
