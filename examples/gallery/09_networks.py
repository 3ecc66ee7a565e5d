"""
Find missing links of a network
===============================

Four-letter words are linked where one letter makes the difference: *cold*, *cord*, *card*. okra knows the links among 60
of the words, and the spelling of all of them. Which links have the others?
"""
import matplotlib.pyplot as plt
import networkx
import numpy as np

import okra
from okra import LinkPredictor

words = """
cold cord card ward warm worm word wood food fool foot boot book look lock sock sick pick
pack back bark dark dare care core corn horn born burn turn tern fern firm film fill fall
ball bell belt melt malt salt sale male mole hole hold gold good goat coat boat beat bear
dear deer deed seed seen teen then than thin this wool pool poll pole pile mile mild wild
wind wine line link pink sink sing ring rang bang band land lane late date gate game name
same some home hope rope rose nose
""".split()
words = sorted(set(words))
network = networkx.Graph()
network.add_nodes_from(range(len(words)))
network.add_edges_from((i, j) for i in range(len(words)) for j in range(i)
                       if sum(a != b for a, b in zip(words[i], words[j])) == 1)
order = np.random.default_rng(3).permutation(len(words))
labelled = np.sort(order[:60])
known = [(i, j) for i, j in network.edges if i in set(labelled) and j in set(labelled)]
print(f"{len(words)} words, {network.number_of_edges()} links, {len(known)} of them known")

# %%
# The kernel of inputs compares words letter by letter; okra chooses the rest.
model = LinkPredictor(kx="position(zero-one) | normalize").fit(words, known, labelled)
scores = model.evaluate(network.edges)
print(f"AUC-ROC {scores['auc_roc']:.3f}, AUC-PR {scores['auc_pr']:.3f}")

# %%
# The best links by score, drawn into the network: green ones are right.
pairs, scores = model.rank(top=40)
everything = networkx.Graph(known)
everything.add_nodes_from(range(len(words)))
everything.add_edges_from(map(tuple, pairs))
place = networkx.spring_layout(everything, seed=4, k=0.35)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=[1.5, 1])
networkx.draw_networkx_edges(everything, place, edgelist=known, ax=axes[0], edge_color="lightgray")
for right, colour in ((True, "tab:green"), (False, "tab:red")):
    some = [tuple(p) for p in pairs if network.has_edge(*p) == right]
    networkx.draw_networkx_edges(everything, place, edgelist=some, ax=axes[0], edge_color=colour,
                                 width=1.8)
names = {k: words[k] for k in range(len(words)) if everything.degree(k)}
networkx.draw_networkx_labels(everything, place, names, font_size=7, ax=axes[0])
axes[0].axis("off")
unknown = [(i, j) for i in range(len(words)) for j in range(i)
           if not (i in set(labelled) and j in set(labelled))]
truth = [network.has_edge(i, j) for i, j in unknown]
okra.plot.ranking(truth, model.decision_function(np.array(unknown)), ax=axes[1])
plt.show()
