#!python
"""tacit, the command line: starts the program that the package carries, without loading the package."""

import importlib.util
import os
import sys

found = importlib.util.find_spec("tacit")
folders = list(found.submodule_search_locations or []) if found else []
programs = [path for path in (os.path.join(folder, "tacit") for folder in folders) if os.access(path, os.X_OK)]
if not programs:
    sys.exit("tacit: the package tacit carries no program here; install its wheel again (pip install tacit)")
os.execv(programs[0], ["tacit", *sys.argv[1:]])
