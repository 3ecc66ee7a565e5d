"""The user guide and the docstrings: every example is run."""
import doctest
import inspect
import re
import typing
from pathlib import Path

import numpy
import pytest

import okra

if numpy.__version__ >= "2":  # the page has numbers as NumPy 1 prints them: True, not np.True_
    numpy.set_printoptions(legacy="1.25")
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
PAGES = [PAGE, ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "install.md",
         *sorted((ROOT / "docs" / "from").glob("*.md"))]
BLOCKS = [(title if page in (PAGE, PAGES[1]) else f"{page.stem}: {title}", body) for page in PAGES
          for title, body in re.findall(r"^##? ([^\n]*)\n(.*?)(?=^##? |\Z)",
                                        page.read_text(encoding="utf-8"), flags=re.S | re.M)]
CODE = [(title, re.findall(r"^```python\n(.*?)^```$", body, flags=re.S | re.M))
        for title, body in BLOCKS]
CODE = [(title, blocks) for title, blocks in CODE if blocks]


@pytest.mark.parametrize("title, blocks", CODE, ids=[title for title, _ in CODE])
def test_guide(title, blocks, tmp_path, monkeypatch):
    """The blocks of a section share their names; `>>>` lines are checked."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        for module in ("networkx", "matplotlib"):
            if module in block:
                pytest.importorskip(module)
        if ">>>" not in block:
            exec(compile(block, title, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, title, str(PAGE), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, clear_globs=False)
        names = test.globs
        assert runner.failures == 0


def test_guide_has_a_section_for_each_kind_of_task():
    titles = " ".join(title.lower() for title, _ in CODE)
    for word in ("pictures", "words", "strings", "molecules", "network", "tasks"):
        assert word in titles


PUBLIC = [getattr(okra, name) for name in okra.__all__ if name not in ("datasets",)]


@pytest.mark.parametrize("thing", PUBLIC, ids=[getattr(t, "__name__", str(t))
                                              for t in PUBLIC])
def test_everything_public_is_documented_and_typed(thing):
    assert thing.__doc__ and thing.__doc__.strip()
    finder = doctest.DocTestFinder()
    for test in finder.find(thing, globs={"okra": okra}):
        assert doctest.DocTestRunner().run(test).failed == 0
    functions = [thing] if inspect.isfunction(thing) else [
        f for name, f in vars(thing).items()
        if inspect.isfunction(f) and not name.startswith("_")]
    for function in functions:
        hints = typing.get_type_hints(function)
        assert "return" in hints, function
        assert function.__doc__, function


@pytest.mark.parametrize("name", [n for n in dir(okra) if inspect.isclass(
    getattr(okra, n)) and hasattr(getattr(okra, n), "get_params")])
def test_every_parameter_is_described(name):
    cls = getattr(okra, name)
    for parameter in cls().get_params():
        assert re.search(rf"^(\w+, )*{parameter}(, \w+)* ?(:|$)",
                         inspect.cleandoc(cls.__doc__), flags=re.M), parameter
