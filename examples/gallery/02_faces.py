"""
Make a face smile
=================

The input is a neutral face, the output the same face smiling. The faces are drawn here, so that you see all there is: six
numbers make a face, and okra is given pixels alone.
"""
import matplotlib.pyplot as plt
import numpy as np

from okra import IOKR

SIDE = 24
down, across = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j]


def blob(y, x, height, width):
    return np.exp(-((down - y) / height) ** 2 - ((across - x) / width) ** 2)


def face(who, smile):
    wide, eyes, brow, nose, skin, hair = who
    head = 1 / (1 + np.exp(12 * (np.hypot(across / (0.6 + 0.15 * wide), down / 0.9) - 1)))
    picture = head * (0.45 + 0.15 * skin)
    for side in (-1, 1):
        picture -= 0.5 * blob(-0.2, side * (0.25 + 0.08 * eyes), 0.08, 0.1)
        picture -= 0.3 * blob(-0.38 - 0.05 * brow, side * (0.25 + 0.08 * eyes), 0.04, 0.16)
    picture += 0.25 * blob(0.1, 0, 0.15 + 0.05 * nose, 0.06)
    picture -= (0.3 + 0.1 * hair) * head * (down < -0.55 + 0.05 * hair)
    curve = 0.5 - smile * (2.2 + 0.5 * eyes) * across ** 2  # the ends of the mouth go up
    ends = 1 + np.exp(30 * (np.abs(across) - 0.27 - 0.05 * wide))
    mouth = np.exp(-((down - curve) / 0.07) ** 2) / ends
    return picture - 0.45 * mouth


rng = np.random.default_rng(0)
people = rng.uniform(-1, 1, size=(160, 6))
neutral = np.array([face(who, 0.0).ravel() for who in people])
neutral += 0.02 * rng.normal(size=neutral.shape)
smiling = np.array([face(who, 1.0).ravel() for who in people])

# %%
# 120 people teach, 40 are new.
model = IOKR().fit(neutral[:120], smiling[:120])
found = model.predict(neutral[120:])
left = np.mean((found - smiling[120:]) ** 2) / np.mean((neutral[120:] - smiling[120:]) ** 2)
print(f"of what a smile changes, {1 - left:.1%} is found")

# %%
figure, axes = plt.subplots(3, 8, figsize=(7, 2.9))
for row, name, pictures in zip(axes, ("given", "okra", "truth"), (neutral[120:], found, smiling[120:])):
    row[0].set_ylabel(name, rotation=0, ha="right", va="center")
    for ax, picture in zip(row, pictures):
        ax.imshow(picture.reshape(SIDE, SIDE), cmap="gray", vmin=0, vmax=0.7)
        ax.set(xticks=[], yticks=[])
plt.show()
