"""run.py [--one-core] FILE...: pytest on some files; exits with 77 where a test was skipped.

--one-core: on a core that no other such run has, where there is one; okra then takes one thread.
"""
import fcntl
import importlib.util
import os
import sys

for module in ("pytest", "numpy", "scipy", "sklearn"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: no Python module {module}")
        sys.exit(77)


def take_core(folder):
    """The lock of the core that this process stays on from now on, or None."""
    for core in sorted(os.sched_getaffinity(0)):
        lock = open(os.path.join(folder, f"core-{core}.lock"), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.sched_setaffinity(0, {core})
            return lock
        except BlockingIOError:
            lock.close()


build = os.environ.get("OKRA_BUILD", os.path.join(os.path.dirname(__file__), "../../build"))
os.environ["OKRA_LIBRARY"] = os.path.join(os.path.abspath(build), "libokra.so")
os.environ["OKRA_PROGRAM"] = os.path.join(os.path.abspath(build), "okra")
root = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
# Worker processes find the package by the environment.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [os.path.join(root, "python")] + os.environ.get("PYTHONPATH", "").split(os.pathsep))
sys.path.insert(0, os.path.join(root, "python"))

if sys.argv[1] == "--one-core":
    taken = take_core(build)
    sys.argv.pop(1)

import pytest  # noqa: E402


class Skips:
    """Counts skipped tests and files."""

    count = 0

    def pytest_runtest_logreport(self, report):
        self.count += report.skipped and not hasattr(report, "wasxfail")

    def pytest_collectreport(self, report):
        self.count += report.skipped


skips = Skips()
status = pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore::DeprecationWarning",
                      "--rootdir", os.path.dirname(os.path.abspath(__file__)),
                      "-rs", *sys.argv[1:]], plugins=[skips])
nothing = status == pytest.ExitCode.NO_TESTS_COLLECTED or status == 0 and skips.count
sys.exit(77 if nothing else int(status))
