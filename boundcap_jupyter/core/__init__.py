"""The pure core: bytes in, views and updates out. No clock, thread, file, process or IPython."""
