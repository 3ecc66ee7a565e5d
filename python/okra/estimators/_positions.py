"""Estimators of outputs made of parts that stand where those of the inputs do: the pixels of
images, the letters of sequences."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from ._base import OutputKernelEstimator
from ._documents import documented


@documented
@dataclass(eq=False, repr=False)
class JointKernelMap(OutputKernelEstimator):
    """Images to images of the same size, by a joint kernel of their patches.

    Parameters
    ----------
    kx : str, default="patches(rbf(sigma=1),width=1,patch=1,overlap=0)"
        ``patches(k,width=W)``: a kernel of patches of images with W columns.
    lam : float, default=0.1
        Regularisation: weight of |h|^2 beside the sum of losses.
    tube : float, optional
        The loss is the distance beyond this; if not given, the squared distance.
    tolerance : float, optional
        Duality gap to reach, with `tube`.
    center_output : bool, default=False
        Subtract the mean output, and restore it after.
{rest}
    """

    _method = "jkm"
    ky = "linear"
    decode = None
    decode_options = None

    kx: str = "patches(rbf(sigma=1),width=1,patch=1,overlap=0)"
    lam: float = 0.1
    tube: Optional[float] = None
    tolerance: Optional[float] = None
    center_output: bool = False
    options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


class _Letters(OutputKernelEstimator):
    """Texts that are as long as the sequences they are predicted from."""

    ky = "position(zero-one)"

    def score(self, X: Any, y: Any, sample_weight: Any = None,
              metric: str = "characters") -> float:
        """Share of characters that are right, or another metric of texts."""
        return super().score(X, y, sample_weight, metric)


@documented
@dataclass(eq=False, repr=False)
class ConstrainedRegression(_Letters):
    """Sequences to texts of the same lengths: ridge whose letters depend on elements of the
    input at near positions alone.

    Parameters
    ----------
    kx : str, default="position(linear)"
        ``position(k)``: a kernel of the elements of the inputs.
    lam : float, default=0.1
        Regularisation: weight of |W|^2 beside the squared errors.
    reach : int, default=1
        How far an element may be from the position it helps to predict.
    leak : float, optional
        Weight of elements beyond reach: 0 forbids them, 1 lifts the constraint.
    decode : str, default="position"
        How scores of letters become a text; ``decode_options={"chain": 1}`` and the like
        let neighbouring letters count.
    decode_options : dict, optional
        Options of the decoder by name.
{rest}
    """

    _method = "constrained"

    kx: str = "position(linear)"
    lam: float = 0.1
    reach: int = 1
    leak: Optional[float] = None
    options: Optional[dict] = None
    decode: str = "position"
    decode_options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None


@documented
@dataclass(eq=False, repr=False)
class M3N(_Letters):
    """Max-margin Markov network: sequences of vectors to texts of the same lengths, letters
    and their transitions learned together.

    Parameters
    ----------
    kx : str, default="position(linear)"
        ``position(k)``: a kernel of the vectors.
    lam : float, default=0.01
        Half of it times |w|^2 is added to the mean structured hinge loss.
    tolerance : float, optional
        Stop when the duality gap is below this times |dual|, or at rounding.
    passes : int, optional
        Passes over the training sequences at most.
    longest : int, optional
        Elements of a test sequence at most; 0: as many as the longest training one has.
{rest}
    """

    _method = "m3n"
    decode = "position"
    decode_options = None

    kx: str = "position(linear)"
    lam: float = 0.01
    tolerance: Optional[float] = None
    passes: Optional[int] = None
    longest: Optional[int] = None
    options: Optional[dict] = None
    n_jobs: Optional[int] = None
    random_state: Any = None
    memory: Any = None
    verbose: bool = False
    engine: Optional[str] = None
