"""The machine: processes, files, threads, the clock. Imports neither IPython nor ipywidgets."""
