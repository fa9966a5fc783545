"""Several files read as one."""
