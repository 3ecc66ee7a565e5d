"""Unknown links of a network: two circles of friends, of which the first eight people are known."""
import numpy as np

from okra import LinkPredictor

people = np.array([[3 * (i % 2) + 0.1 * i, 3 * (i % 2) - 0.1 * i] for i in range(12)])
edges = [(i, j) for i in range(8) for j in range(i) if i % 2 == j % 2]
model = LinkPredictor(kx="rbf(sigma=1)").fit(people, edges, labelled=range(8))
pairs, scores = model.rank(top=2, pairs="new-new")
for a, b in pairs:
    print(a, "knows", b)
