"""Reports about files and reads: the doctor, the map, I/O statistics."""
