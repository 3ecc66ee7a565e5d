"""Data that several files of tests fit."""
import pytest

import okra


@pytest.fixture(scope="module")
def patterns():
    return okra.datasets.make_patterns(60)


@pytest.fixture(scope="module")
def words():
    x, y, classes = okra.datasets.make_strings(60)
    keep = [i for i in range(60) if len(y[i]) >= 2 and len(x[i]) >= 2]
    return [x[i] for i in keep], [y[i] for i in keep], classes[keep]
