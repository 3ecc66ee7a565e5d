"""
How probable is a class?
========================

``predict_proba`` is calibrated by left-out predictions: of the cases that get 80 %, about 80 % are right. The picture checks
this on tumours that the model has not seen.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import okra
from okra import IOKRClassifier

cancer = load_breast_cancer()
rng = np.random.default_rng(0)
clean = cancer.data[:, :4]
inputs = clean + rng.normal(size=clean.shape) * clean.std(axis=0)  # noise makes it hard
truth = cancer.target == 0  # malignant
folds = StratifiedKFold(5, shuffle=True, random_state=0)
probability = cross_val_predict(IOKRClassifier(), inputs, truth, cv=folds, method="predict_proba")[:, 1]
print(f"{np.mean((probability > 0.5) == truth):.0%} right")

# %%
share, said = calibration_curve(truth, probability, n_bins=8, strategy="quantile")
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6))
axes[0].plot([0, 1], [0, 1], "--", color="gray")
axes[0].plot(said, share, "o-")
axes[0].set(xlabel="probability that okra gives", ylabel="share that is malignant",
            title="Said and true")
okra.plot.ranking(truth, probability, roc=True, ax=axes[1])
plt.show()
