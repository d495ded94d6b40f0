"""The notebook and the terminal: how a run is shown while it runs, and what stays of it."""
