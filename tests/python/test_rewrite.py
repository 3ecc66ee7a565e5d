"""The decoder rewrite from Python: the same strings as the command line."""
import numpy as np
import pytest

from okra import IOKR

VERBS = "walk stop beg try sing ring hope like fit plan cry play".split()
PASTS = ("walked stopped begged tried sang rang hoped liked fitted planned cried "
         "played").split()


def model(**more):
    return IOKR(kx="ends", ky="ends", lam=0.01, decode="rewrite", **more).fit(VERBS, PASTS)


def test_predicts_forms_never_seen():
    assert list(model().predict(["talk", "spring", "grin"])) == ["talked", "sprang", "grinned"]


@pytest.mark.parametrize("rank", ["both", "outputs", "edits"])
def test_proposals_are_ranked(rank):
    m = model(decode_options={"rank": rank})
    lists = m.proposals(["talk", "grin"], top=5)
    assert [row[0][0] for row in lists] == list(m.predict(["talk", "grin"]))
    for row in lists:
        assert 1 < len(row) <= 5 and len({word for word, _ in row}) == len(row)
        assert np.all(np.diff([d for _, d in row]) >= -1e-12)


def test_report_tells_proposals_and_input():
    p = model().model_.predict(["talk"], {"decode": "rewrite"})
    report = p.report()
    assert set(report) == {"distance", "proposals", "rank", "input"}
    assert report["proposals"][0] >= 2 and report["input"][0] == 1
    assert p.proposals() is not None


def test_other_decoders_have_no_proposals():
    p = model().model_.predict(["talk"], {"decode": "candidates"})
    assert p.proposals() is None and p.report() is None
