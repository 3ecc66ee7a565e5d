"""The Python package with the library, its headers and the program inside.

Library and program come from the build folder (OKRA_BUILD, or build/), which is made by
CMake when there is none.
"""
import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
SCRATCH = ROOT / "build-python"  # build/ is CMake's


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(okra VERSION ([0-9.]+)", text).group(1)


def built() -> Path:
    """The folder with libokra.so and okra, which are built if they are not there."""
    build = Path(os.environ.get("OKRA_BUILD", ROOT / "build"))
    if not (build / "libokra.so").exists() or not (build / "okra").exists():
        build = SCRATCH / "cmake"
        subprocess.check_call(["cmake", "-S", str(ROOT), "-B", str(build),
                               "-DCMAKE_BUILD_TYPE=Release", "-DOKRA_TESTS=OFF", "-DOKRA_BENCH=OFF"])
        subprocess.check_call(["cmake", "--build", str(build), "--target", "okra_program"])
    return build


class PlatformDistribution(Distribution):
    """Files belong where those of a platform go, beside the library."""

    def has_ext_modules(self):
        return True


class BuildWithLibrary(build_py):
    def run(self):
        shutil.rmtree(self.build_lib, ignore_errors=True)  # what an older version left
        super().run()
        package = Path(self.build_lib) / "okra"
        shutil.rmtree(package / "include", ignore_errors=True)
        shutil.copytree(ROOT / "include" / "okra", package / "include")
        library = built() / "libokra.so"  # a link; the program asks for the name it leads to
        shutil.copyfile(library, package / os.readlink(library))
        shutil.copy(library.with_name("okra"), package / "okra")


class PlatformWheel(bdist_wheel):
    """Any Python 3, one platform: the library is not tied to Python or NumPy."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


SCRATCH.mkdir(exist_ok=True)
setup(
    version=version(),
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    options={"build": {"build_base": str(SCRATCH)},
             "egg_info": {"egg_base": str(SCRATCH)}},
)
