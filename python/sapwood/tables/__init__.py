"""Trees as tables of other libraries: streams of Arrow record batches, lazy frames of polars."""
