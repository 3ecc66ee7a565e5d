"""``python -m okra convert FILE -o OUT``, or any command of the program okra."""
import os
import shutil
import sys

from . import _convert
from ._library import LIBRARY_PATH


def program():
    """The program: beside the library, or where the shell finds it; None without one."""
    beside = LIBRARY_PATH.resolve().parent / "okra"
    return str(beside) if os.access(beside, os.X_OK) and beside.is_file() else shutil.which("okra")


def main(arguments):
    if arguments[:1] == ["convert"]:
        return _convert.convert(arguments[1:])
    path = program()
    if path is None:
        print("okra: the program okra is not installed; only 'python -m okra convert' is there",
              file=sys.stderr)
        return 1
    os.execv(path, ["okra", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
