"""Estimators in scikit-learn's conventions."""
from ._link import LinkPredictor
from ._regressors import IOKR, KDE, OK3, IOKRMargin, MultiTaskKernelRidge, TwinGP
from ._select import IOKRCV
from ._transformers import KernelGram, TwinKernelLearner

__all__ = ["IOKR", "IOKRCV", "IOKRMargin", "KDE", "KernelGram", "LinkPredictor",
           "MultiTaskKernelRidge", "OK3", "TwinGP", "TwinKernelLearner"]
