"""Probabilities of classes without options beside logistic regression: log-loss, and how far what is promised is from
the truth.

Three tables of scikit-learn, standardised for the regression; every row is predicted by five folds that leave it out,
four times over. `reliability` is the mean distance between the probability of the class that is named and the share of
rows where it is right, over ten parts of [0, 1]. The target of a log-loss is 1.2 times that of the regression, of
the reliability .05."""
import os
import sys

import numpy as np
from common import BUILD, finish, report

os.environ.setdefault("OKRA_LIBRARY", os.path.join(os.path.abspath(BUILD), "libokra.so"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from sklearn.datasets import load_breast_cancer, load_iris, load_wine  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import StratifiedKFold, cross_val_predict  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from okra import IOKRClassifier  # noqa: E402

TASKS = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def reliability(told, truth):
    sure, right = told.max(axis=1), told.argmax(axis=1) == truth
    part = np.minimum((10 * sure).astype(int), 9)
    return sum(abs(sure[part == k].sum() - right[part == k].sum()) for k in range(10)) / len(truth)


def main():
    for name, load in TASKS.items():
        inputs, truth = load(return_X_y=True)
        peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        losses, reliable = {}, {}
        for who, model in (("okra", IOKRClassifier()), ("logistic", peer)):
            told = [cross_val_predict(model, inputs, truth, method="predict_proba",
                                      cv=StratifiedKFold(5, shuffle=True, random_state=seed)) for seed in range(4)]
            # one number a row: its mean over the four draws of folds
            losses[who] = np.mean([-np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-15)) for p in told], axis=0)
            reliable[who] = float(np.mean([reliability(p, truth) for p in told]))
        gap = losses["okra"] - losses["logistic"]
        mean = {who: float(v.mean()) for who, v in losses.items()}
        report(f"{name}: log-loss over that of logistic regression", mean["okra"] / mean["logistic"], 1.2,
               better="lower", **mean, difference=float(gap.mean()),
               standard_error=float(gap.std(ddof=1) / np.sqrt(len(gap))))
        report(f"{name}: reliability of the probabilities", reliable["okra"], 0.05, better="lower", **reliable)
    finish()


main()
