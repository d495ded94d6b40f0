"""A run in a terminal: a live block while it runs, then the bounded text and the status line."""
