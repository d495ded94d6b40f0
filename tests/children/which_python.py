"""Says which python and pip a command of this interpreter finds."""

from boundcap_jupyter.running.local import LocalEnv

print(LocalEnv().exec("command -v python; command -v pip").text, end="")
