"""Estimators in scikit-learn's conventions."""
from ._link import LinkPredictor
from ._pairs import PairRegressor
from ._positions import M3N, ConstrainedRegression, JointKernelMap
from ._regressors import (IOKR, KDE, OK3, SOAR, Blend, IOKRClassifier, IOKRMargin, KernelSVR,
                          MultiTaskKernelRidge, TwinGP)
from ._select import IOKRCV
from ._transformers import KernelGram, TwinKernelLearner

__all__ = ["Blend", "ConstrainedRegression", "IOKR", "IOKRCV", "IOKRClassifier", "IOKRMargin", "JointKernelMap",
           "KDE", "KernelGram", "KernelSVR", "LinkPredictor", "M3N", "MultiTaskKernelRidge", "OK3", "PairRegressor",
           "SOAR", "TwinGP", "TwinKernelLearner"]
