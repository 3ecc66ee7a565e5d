"""The command `okra` that pip installs: the program beside the package okra.

It does not import okra, which takes longer than many a command.
"""
import os
import sys
from importlib.util import find_spec
from pathlib import Path


def main():
    if sys.argv[1:2] == ["convert"]:  # the one command that is written in Python
        from okra.__main__ import main as run
        sys.exit(run(sys.argv[1:]))
    # okra-report, which draws, is where pip put this command
    os.environ["PATH"] = os.environ.get("PATH", "") + os.pathsep + str(Path(sys.executable).parent)
    os.execv(Path(find_spec("okra").origin).with_name("okra"), ["okra", *sys.argv[1:]])
