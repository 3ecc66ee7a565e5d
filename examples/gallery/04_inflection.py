"""
Inflect a verb
==============

Outputs are edited inputs: *stop* becomes *stopped*. okra learns the edits of the training pairs and makes them to new words.
"""
import matplotlib.pyplot as plt

from okra import IOKR

pairs = """walk walked|talk talked|jump jumped|stop stopped|beg begged|plan planned|fit fitted|try tried|cry cried|spy spied
play played|stay stayed|enjoy enjoyed|hope hoped|like liked|move moved|bake baked|sing sang|ring rang|drink drank
sink sank|grow grew|throw threw|blow blew|bring brought|think thought|keep kept|sleep slept|weep wept|bend bent
send sent|spend spent|wash washed|pass passed|fix fixed|mix mixed|nod nodded|rub rubbed|grab grabbed|drop dropped"""
verbs, pasts = zip(*(pair.split() for line in pairs.splitlines() for pair in line.split("|")))
model = IOKR(decode="rewrite").fit(list(verbs), list(pasts))
print({key: value for key, value in model.chosen_.items() if key in ("kx", "ky", "lam")})

# %%
# New verbs, with the forms that okra considered. A shorter bar is a better form.
new = ["spring", "fry", "grin", "know", "lend", "creep"]
considered = model.proposals(new, top=3)
figure, axes = plt.subplots(2, 3, figsize=(7, 3.4))
for ax, verb, forms in zip(axes.flat, new, considered):
    words, distances = zip(*forms)
    ax.barh(words, distances, color=["tab:green"] + ["lightgray"] * (len(words) - 1))
    ax.invert_yaxis()
    ax.set_title(verb)
    ax.set_xticks([])
figure.supxlabel("distance from the prediction")
plt.show()
