"""Estimators from objects to objects."""
from __future__ import annotations

from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Optional

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .._data import Data, check_labels, labels
from ._base import OutputKernelEstimator, WeightedEstimator
from ._documents import Kernel, documented


@documented
@dataclass(eq=False, repr=False)
class IOKR(WeightedEstimator):
    """Input output kernel regression: ridge regression into the output feature space.

{kernels}
    lam : float or "auto", default="auto"
        Regularisation, the lambda of (K + lambda I); n lambda for the operators ``cov``
        and ``ccov``. ``"auto"``: by leave-one-out.
    operator : str or ndarray of shape (d, d), default="identity"
        ``"identity"`` (or ``"tensor"``), ``"cov"``, ``"ccov"``, ``"diagonal(t=V)"``,
        ``"matrix:FILE"``, ``"graph:FILE,mu=V"``, or a symmetric positive semidefinite matrix.
    epsilon : float, optional
        Regularisation of the conditional covariance (``ccov`` only).
    center_output : bool, optional
        Subtract the mean output in feature space, and restore it after. If not given:
        where `kx` or `lam` is ``"auto"``.
    lambda2 : float, optional
        Weight of smoothness over the graph of all inputs, labelled or not.
    graph : str or ndarray, optional
        That graph: ``"gram"``, ``"knn(k=10)"``, ..., or a matrix of weights.
    twin : str, optional
        ``"D1,D2"``: replace the kernels by polynomials that are learned.
    low_rank, low_rank_x, low_rank_y : str, optional
        Low rank of the kernels, such as ``"chol(rank=500)"``.
    solver : {"direct", "cg"}, optional
        Low rank only: by moments, or by conjugate gradients.
    cg_tolerance, cg_iterations : float, int, optional
        Conjugate gradients: relative residual to reach, steps at most.
    checkpoint : str, optional
        A file that keeps moments, the state of conjugate gradients or the factor of one
        lambda, from which work goes on.
    precision : {"auto", "double", "mixed"}, optional
        ``"mixed"``: factor in single precision and refine to double precision; the model keeps
        coefficients alone. ``"auto"``: where that is surely faster.
    keep_moments : bool, optional
        Low rank only: keep the moments of the training set, which `partial_fit`, `remove`
        and `okra.Model.merge` need.
{labelled}

    Examples
    --------
    >>> import numpy as np
    >>> from okra import IOKR
    >>> X = np.linspace(0, 1, 20).reshape(-1, 1)
    >>> Y = np.hstack([np.sin(3 * X), np.cos(3 * X)])
    >>> IOKR(kx="rbf(sigma=0.3)", lam=1e-3).fit(X, Y).predict(X[:2]).shape
    (2, 2)
    """

    _method = "ridge"

    kx: Kernel = "auto"
    ky: Kernel = "auto"
    lam: Any = "auto"
    operator: Any = "identity"
    epsilon: Optional[float] = None
    center_output: Optional[bool] = None
    lambda2: Optional[float] = None
    graph: Any = None
    twin: Optional[str] = None
    low_rank: Optional[str] = None
    low_rank_x: Optional[str] = None
    low_rank_y: Optional[str] = None
    solver: Optional[str] = None
    cg_tolerance: Optional[float] = None
    cg_iterations: Optional[int] = None
    checkpoint: Optional[str] = None
    precision: Optional[str] = None
    class_weight: Optional[str] = None
    keep_moments: Optional[bool] = None
    options: Optional[dict] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


class IOKRClassifier(IOKR):
    """`IOKR` for classes: whatever `y` holds, numbers too, names classes, and scikit-learn's
    tools for classifiers (stacking, calibration, stratified folds, thresholds) take it as one.

    Parameters, attributes and methods are those of `IOKR`.

    Examples
    --------
    >>> from okra import IOKRClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> IOKRClassifier().fit(X, y).predict_proba(X[:2]).shape
    (2, 3)
    """

    _estimator_type = "classifier"

    def _pairs(self, X: Any, y: Any) -> tuple:
        if y is not None and not isinstance(y, Data):
            if np.ndim(y) == 1:
                check_labels(list(y))
            check_classification_targets(y)
            y = labels(column_or_1d(y, warn=True))
        return super()._pairs(X, y)


def _described(text: str, other: str) -> str:
    """With the parameters and attributes of another docstring in their place. Python 3.13
    takes the indentation of docstrings away, older ones keep it."""
    text, other = cleandoc(text), cleandoc(other)
    start, end = other.index("Parameters\n"), other.index("Examples\n")
    return text.replace("Parameters, attributes and methods are those of `IOKR`.", other[start:end].rstrip())


IOKRClassifier.__doc__ = _described(IOKRClassifier.__doc__ or "", IOKR.__doc__ or "")


@documented
@dataclass(eq=False, repr=False)
class IOKRMargin(WeightedEstimator):
    """Maximum margin regression, and regression with robust losses.

{kernels}
    lam : float or "auto", default="auto"
        Regularisation: lambda |h|^2 beside the sum of losses. ``"auto"``: by five folds, or
        that of ridge where the loss is chosen too.
    loss : {"auto", "hinge", "epsilon", "huber"}, default="auto"
        Hinge of <y, h(x)>, or a loss of the distance |y - h(x)|. ``"auto"``: hinge, or huber
        of outputs that are numbers (where `lam` is ``"auto"``) or classes (`kx` too).
    tube : float, optional
        Distances up to this cost nothing (loss ``epsilon``).
    delta : float, optional
        Distances beyond this cost linearly (loss ``huber``).
    operator : str or ndarray of shape (d, d), optional
        ``"identity"``, ``"matrix:FILE"``, ``"graph:FILE,mu=V"`` or a matrix.
    lambda2 : float, optional
        Weight of smoothness over the graph of all inputs, labelled or not.
    graph : str or ndarray, optional
        That graph.
    tolerance : float, optional
        Stop when the duality gap is below this times |dual|, or at rounding.
    twin : str, optional
        ``"D1,D2"``: replace the kernels by polynomials that are learned.
    low_rank, low_rank_x, low_rank_y : str, optional
        Low rank of the kernels, such as ``"chol(rank=500)"``.
{labelled}
    """

    _method = "margin"

    kx: Kernel = "auto"
    ky: Kernel = "auto"
    lam: Any = "auto"
    loss: str = "auto"
    tube: Optional[float] = None
    delta: Optional[float] = None
    operator: Any = None
    lambda2: Optional[float] = None
    graph: Any = None
    tolerance: Optional[float] = None
    twin: Optional[str] = None
    low_rank: Optional[str] = None
    low_rank_x: Optional[str] = None
    low_rank_y: Optional[str] = None
    class_weight: Optional[str] = None
    options: Optional[dict] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def _own_tags(self) -> dict:
        # The hinge asks for the right side of a margin, not for the right value.
        return {**super()._own_tags(), "poor_score": self.loss == "hinge"}


@documented
@dataclass(eq=False, repr=False)
class KDE(WeightedEstimator):
    """Kernel dependency estimation: ridge on the kernel principal components of outputs.

{kernels}
    lam : float or "auto", default="auto"
        Regularisation of the ridge on each component: (K + lambda I).
    components : int, float or str, optional
        How many: a number, a share of the variance such as 0.95, or ``"all"``.
    rank_output : int, float or str, optional
        Instead of ``components``: the leading directions of the fitted outputs, a number, a
        share of their variance, ``"all"``, or ``"auto"``: what leave-one-out finds best.
    twin : str, optional
        ``"D1,D2"``: replace the kernels by polynomials that are learned.
    low_rank, low_rank_x, low_rank_y : str, optional
        Low rank of the kernels, such as ``"chol(rank=500)"``.
{labelled}
    """

    _method = "kpca"

    kx: Kernel = "auto"
    ky: Kernel = "auto"
    lam: Any = "auto"
    components: Any = None
    rank_output: Any = None
    twin: Optional[str] = None
    low_rank: Optional[str] = None
    low_rank_x: Optional[str] = None
    low_rank_y: Optional[str] = None
    class_weight: Optional[str] = None
    options: Optional[dict] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


@documented
@dataclass(eq=False, repr=False)
class TwinGP(OutputKernelEstimator):
    """Twin Gaussian processes: the output whose similarities to the training outputs look
    most like those of the input to the training inputs.

    Predictions are the optimum among all vectors where the output kernel is smooth, else
    (or with candidates) the best candidate.

{kernels}
    criterion : {"kl", "hsic"}, default="kl"
        Kullback-Leibler divergence, or Hilbert-Schmidt independence criterion.
    lam : float, optional
        Noise of the input process, K + lambda I (``kl`` only). Not given: chosen by five
        folds where `kx` or `ky` is ``"auto"``.
    lambda_y : float, optional
        Noise of the output process, L + lambda_y I (``kl`` only).
    neighbours : int, optional
        Nearest training inputs that a prediction is made from; 0: all.
    twin : str, optional
        ``"D1,D2"``: replace the kernels by polynomials that are learned.
{common}
    """

    _explicit = False
    _no_options = OutputKernelEstimator._no_options | {"criterion"}

    kx: Kernel = "auto"
    ky: Kernel = "auto"
    criterion: str = "kl"
    lam: Optional[float] = None
    lambda_y: Optional[float] = None
    neighbours: Optional[int] = None
    twin: Optional[str] = None
    options: Optional[dict] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def _method_name(self) -> str:
        return f"tgp-{self.criterion}"

    @property
    def _is_regressor(self) -> bool:
        return False

    def score(self, X: Any, y: Any, sample_weight: Any = None,
              metric: Optional[str] = None) -> float:
        """R² of the predicted vectors, or a metric of the library; see `IOKR.score`."""
        from sklearn.metrics import r2_score
        if metric is not None or self._fitted().outputs.kind != "dense":
            return super().score(X, y, sample_weight, metric)
        return r2_score(y, self.predict(X), sample_weight=sample_weight)


@documented
@dataclass(eq=False, repr=False)
class MultiTaskKernelRidge(WeightedEstimator):
    """Kernel ridge regression of several tasks that tell about one another.

    The operator is a matrix A over tasks: task_matrix itself, or, from a graph W of
    similar tasks with Laplacian L_W, A = (mu L_W + (1 - mu) I)^-1. Outputs that are not
    known may be given with `okra.missing`.

    Parameters
    ----------
    kx : str or callable, default="auto"
        Kernel of the inputs.
    lam : float or "auto", default="auto"
        Regularisation: (K + lambda I) for every eigenvalue of A.
    task_graph : ndarray of shape (d, d), optional
        Weights of a graph of tasks.
    mu : float, default=0.5
        How much the graph counts, 0 to 1.
    task_matrix : ndarray of shape (d, d), optional
        A itself, symmetric positive semidefinite.
    center_output : bool, optional
        Subtract the mean output, and restore it after. If not given: where `kx` or `lam` is
        ``"auto"`` and the tasks have no graph or matrix.
{rest}
    """

    _method = "ridge"
    _no_options = OutputKernelEstimator._no_options | {"task_graph", "task_matrix", "mu"}
    ky = "linear"
    decode = None
    decode_options = None

    kx: Kernel = "auto"
    lam: Any = "auto"
    task_graph: Any = None
    mu: float = 0.5
    task_matrix: Any = None
    center_output: Optional[bool] = None
    options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None

    def _options(self, stack: Any) -> dict:
        if self.task_graph is not None and self.task_matrix is not None:
            raise ValueError("give task_graph or task_matrix, not both")
        values = super()._options(stack)
        if self.task_graph is not None:
            path = self._write_array(np.asarray(self.task_graph), stack)
            values["operator"] = f"graph:{path},mu={float(self.mu)!r}"
        elif self.task_matrix is not None:
            values["operator"] = "matrix:" + self._write_array(
                np.asarray(self.task_matrix), stack)
        return values


@documented
@dataclass(eq=False, repr=False)
class OK3(OutputKernelEstimator):
    """Output kernel trees, extremely randomised, on columns of the inputs or on similarities.

    A prediction weighs the training outputs by how often they share a leaf with the
    input.

{kernels}
    trees : int, default=100
        Trees that are averaged.
    features : int, optional
        Random splits tried at a node; 0: one per training input, 1000 at most; of
        columns: one per column, 100 at most.
    leaf : int, optional
        Least number of training pairs in a leaf.
    splits : str, optional
        ``"kernel"``: on similarities to the training inputs; ``"columns"``: on the columns
        of dense inputs. Not given: on columns where `kx` is ``"auto"`` and inputs are dense.
{common}
    """

    _method = "ok3"

    kx: Kernel = "auto"
    ky: Kernel = "auto"
    trees: int = 100
    features: Optional[int] = None
    leaf: Optional[int] = None
    splits: Optional[str] = None
    options: Optional[dict] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


@documented
@dataclass(eq=False, repr=False)
class Blend(OutputKernelEstimator):
    """Ridge regression and trees on the columns of dense inputs.

    They are weighed by what they predict of training pairs that they have not seen.

{kernels}
    lam : float or "auto", default="auto"
        Regularisation of the ridge. ``"auto"``: by leave-one-out, as for `IOKR`.
    trees : int, default=100
        Trees that are averaged.
    features : int, optional
        Random columns tried at a node; 0: all, 100 at most.
    leaf : int, optional
        Least number of training pairs in a leaf.
    parts : int, optional
        Each tree leaves out one of this many random parts of the pairs; 0: of 5.
{common}
    """

    _method = "blend"

    kx: Kernel = "auto"
    ky: Kernel = "auto"
    lam: Any = "auto"
    trees: int = 100
    features: Optional[int] = None
    leaf: Optional[int] = None
    parts: Optional[int] = None
    options: Optional[dict] = None
    decode: Optional[str] = None
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


@documented
@dataclass(eq=False, repr=False)
class SOAR(OutputKernelEstimator):
    """Structured output-associative regression: every output is regressed on the input and
    on the other outputs, which a prediction goes over until they settle.

    Outputs are vectors of two numbers or more.

    Parameters
    ----------
    kx : str or callable, default="auto"
        Kernel of the inputs.
    lam : float, optional
        Regularisation of the ridge learner: (K + lambda I). Not given: chosen by five folds
        where `kx` is ``"auto"``.
    learner : {"ridge", "svr"}, default="ridge"
        What each output is regressed by: ridge, or support vector regression.
    associate : str, optional
        Kernel of the other outputs. Not given: linear; where `kx` is ``"auto"``, a Gaussian
        of them in units of their deviations.
    combine : {"product", "sum"}, default="product"
        How the two kernels meet.
    cost, tube : float, optional
        C and the half width of the tube of ``svr``.
    sweeps : int, optional
        Most iterations over the outputs in a prediction; 0: each output on its own.
    settle : float, optional
        Share of its standard deviation by which a settled output may move.
{rest}
    """

    _method = "soar"
    ky = "linear"
    decode = None
    decode_options = None

    kx: Kernel = "auto"
    lam: Optional[float] = None
    learner: str = "ridge"
    associate: Optional[str] = None
    combine: str = "product"
    cost: Optional[float] = None
    tube: Optional[float] = None
    sweeps: Optional[int] = None
    settle: Optional[float] = None
    options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


@documented
@dataclass(eq=False, repr=False)
class KernelSVR(WeightedEstimator):
    """Support vector regression of vectors, one a coordinate.

    Parameters
    ----------
    kx : str or callable, default="auto"
        Kernel of the inputs.
    cost : float or "auto", default="auto"
        Price of errors, the C of a support vector machine. ``"auto"``: by five folds.
    tube : float, optional
        Half width of the tube within which there is no error; 0.1 if not given.
    scale_output : bool, optional
        Learn outputs less their means and over their deviations, which are then the units
        of `cost` and `tube`. Not given: where `cost` is ``"auto"`` and `tube` is not given.
    svm_tolerance : float, optional
        Optimality at which the solver stops.
{rest}
    """

    _method = "svr"
    ky = "linear"
    decode = None
    decode_options = None

    kx: Kernel = "auto"
    cost: Any = "auto"
    tube: Optional[float] = None
    scale_output: Optional[bool] = None
    svm_tolerance: Optional[float] = None
    options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None
