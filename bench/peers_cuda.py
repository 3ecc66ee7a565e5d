"""The problem of bench_cuda.py, and the same fits in PyTorch, CuPy and GPyTorch."""
import gc
import json
import time

import numpy as np

GAMMA, LAMBDA, WIDTH, OUTPUTS = 1 / 64, 0.1, 64, 16


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, WIDTH))
    Y = np.tanh(X[:, :OUTPUTS]) + 0.1 * rng.standard_normal((n, OUTPUTS))
    return X, Y


def torch_gram(torch, x):
    K = x @ x.T
    square = (x * x).sum(1)
    K.mul_(-2).add_(square[:, None]).add_(square[None, :]).clamp_(min=0).mul_(-GAMMA).exp_()
    return K


def torch_fit(torch, X, Y):
    x, y = torch.as_tensor(X).cuda(), torch.as_tensor(Y).cuda()
    K = torch_gram(torch, x)
    K.diagonal().add_(LAMBDA)
    L = torch.linalg.cholesky(K)
    del K
    result = torch.cholesky_solve(y, L).cpu()
    return result


def cupy_fit(cupy, X, Y):
    from cupyx import lapack
    x, y = cupy.asarray(X), cupy.asarray(Y)
    K = x @ x.T
    square = (x * x).sum(1)
    K *= -2
    K += square[:, None]
    K += square[None, :]
    cupy.maximum(K, 0, out=K)
    K *= -GAMMA
    cupy.exp(K, out=K)
    K[cupy.arange(len(x)), cupy.arange(len(x))] += LAMBDA
    return cupy.asnumpy(lapack.posv(K, y))


def gpytorch_fit(how, n):
    import gpytorch
    import torch
    X, Y = problem(n)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.RBFKernel()

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x),
                                                             self.covar_module(x))

    def fitted(x, y, test):
        likelihood = gpytorch.likelihoods.GaussianLikelihood().double().cuda()
        model = Model(x, y, likelihood).double().cuda()
        likelihood.noise = LAMBDA
        model.covar_module.lengthscale = (1 / (2 * GAMMA)) ** 0.5
        model.eval()
        likelihood.eval()
        size = 10 ** 9 if how == "cholesky" else 800
        with torch.no_grad(), gpytorch.settings.max_cholesky_size(size), \
                gpytorch.settings.skip_posterior_variances(True):
            mean = model(test).mean.cpu()
        torch.cuda.synchronize()
        return mean

    def once(X, Y, way):
        x, y = torch.as_tensor(X).cuda(), torch.as_tensor(np.ascontiguousarray(Y.T)).cuda()
        means = []
        for j in range(1 if way == "one" else y.shape[0]):
            means.append(fitted(x, y[j], x[:16]))
            gc.collect()  # a model is a circle of references, and holds its matrices
        return torch.stack(means)

    for way in ("one", "all"):
        once(X[:2000], Y[:2000], way)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        mean = once(X, Y, way)
        print(json.dumps({"way": way, "seconds": time.perf_counter() - begin,
                          "mean": mean.tolist()}), flush=True)
