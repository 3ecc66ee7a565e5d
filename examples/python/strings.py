"""From strings to strings: plural forms of new words, among candidates."""
from okra import IOKR

words = ["cat", "dog", "box", "fox", "bird", "tree", "dish", "brush", "star", "lamp", "tax", "wish"]
plurals = ["cats", "dogs", "boxes", "foxes", "birds", "trees", "dishes", "brushes", "stars", "lamps",
           "taxes", "wishes"]
model = IOKR(kx="spectrum(k=1) | normalize", ky="spectrum(k=2) | normalize", lam=0.01)
model.fit(words, plurals)
new = ["car", "mix"]
for word, plural in zip(new, model.predict(new, candidates=["cars", "cares", "mixs", "mixes"])):
    print(word, "->", plural)
