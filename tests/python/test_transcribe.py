"""The decoder transcribe from Python: chosen by itself, its lists, and what it refuses."""
import re

import numpy as np
import pytest

from okra import IOKR, OkraError


def say(word):
    """c is K, before e and i it is S; x is KS; h is nothing."""
    return re.sub("c(?=[ei])", "S", word).replace("c", "K").replace("x", "KS").replace("h", "").upper()


rng = np.random.default_rng(0)
WORDS = ["".join(rng.choice(list("aeiccxhtn"), size=rng.integers(4, 9))) for _ in range(150)]
WORDS = [word for word in WORDS if word.strip("h")]
SOUNDS = [say(word) for word in WORDS]
NEW = ["cexin", "thaca", "nixece", "hetice"]


def test_is_chosen_and_writes_words_never_seen():
    model = IOKR().fit(WORDS, SOUNDS)
    assert model.chosen_["decode"] == "transcribe"
    assert list(model.predict(NEW)) == [say(word) for word in NEW]


def test_lists_begin_with_the_prediction_and_have_no_string_twice():
    model = IOKR(decode="transcribe").fit(WORDS, SOUNDS)
    for (first, *rest), found in zip(model.proposals(NEW, top=6), model.predict(NEW)):
        assert first[0] == found and len(rest) > 0
        assert len({first[0], *(text for text, _ in rest)}) == 1 + len(rest)


def test_lists_of_a_chosen_decoder_are_what_it_writes():
    model = IOKR().fit(WORDS, SOUNDS)
    lists, far = model.predict(NEW, top=3, return_distance=True)
    assert [row[0] for row in lists] == list(model.predict(NEW)) and all(0 < len(row) <= 3 for row in far)
    assert not {say(word) for word in NEW} & set(SOUNDS)
    assert set(np.ravel(model.predict(NEW, SOUNDS, top=3))) <= set(SOUNDS)
    assert model.rank(NEW, top=3)[0].shape == (len(NEW), 3)


@pytest.mark.parametrize("name", ["tʃ", "tʃˑʰ"])
def test_signs_between_blanks_are_letters(name):
    def spaced(word):
        return " ".join(say(word)).replace("S", name)
    model = IOKR().fit(WORDS, [spaced(word) for word in WORDS])
    assert model.chosen_["decode"] == "transcribe"
    assert list(model.predict(NEW)) == [spaced(word) for word in NEW]


def test_blanks_of_phrases_are_letters():
    """Where inputs have as many blanks, a blank is what a blank becomes."""
    words = [" ".join(word) for word in WORDS]
    model = IOKR().fit(words, [word.upper() for word in words])
    assert list(model.predict(["c e x", "i n"])) == ["C E X", "I N"]


def test_letters_beyond_ascii():
    table = str.maketrans("abcdef", "αβγδεζ")
    words = ["".join(rng.choice(list("abcdef"), size=rng.integers(1, 9))) for _ in range(40)]
    model = IOKR().fit(words, [word.translate(table) for word in words])
    assert list(model.predict(["fedcba", "é"])) == ["ζεδγβα", "é"]  # a new letter stays where lengths are equal


def test_fewer_letters_are_told():
    model = IOKR(decode="transcribe", decode_options={"letters": 9}).fit(WORDS, SOUNDS)
    with pytest.warns(UserWarning, match="training letters are not used"):
        assert len(model.predict(NEW)) == len(NEW)


def test_refuses_numbers():
    model = IOKR(kx="linear", ky="spectrum(k=1)", lam=0.1, decode="transcribe").fit(np.eye(3), ["a", "b", "c"])
    with pytest.raises(OkraError, match="transcribe needs an input of strings"):
        model.predict(np.eye(3))
