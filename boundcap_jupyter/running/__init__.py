"""The machine: processes, files, threads, the clock. Imports neither IPython nor ipywidgets."""

import sys

if sys.platform == "win32":
    raise ImportError("boundcap_jupyter runs commands on Linux and macOS; Windows is not supported yet")
