"""rivals.py - published methods that clip or solve in a shape, written again from their papers for default_table.

GEOCLIP  Gilani, Tasnim, Kosut and Sankar, GeoClip: Geometry-Aware Clipping for Differentially Private SGD (NeurIPS
    2025, arXiv 2506.06549), the form with a moving average of the full covariance.  Per record u = M (g - a) is cut
    to norm 1, the batch's sum gets noise N(0, sigma^2 I), and g~ = M^-1 (sum + noise)/batch + a moves the weights.
    Then a = .99 a + .01 g~, S = beta S + (1 - beta) (g~ - a)(g~ - a)', S = U diag(l) U', l cut to [1e-15, 10], and M
    = (sum sqrt(l))^-1/2 diag(l^-1/4) U'.  The constants .99, 1e-15, 10 and beta = .999 are the authors'.  S comes
    from released gradients alone, as the paper's privacy argument demands.  Batches are Poisson samples of expected
    size BATCH, sigma is the accountant's for EPOCHS epochs; a batch that is not full counts as BATCH.  The rate and
    beta in {.9, .999} are chosen by the least excess of one run with other noise, without a charge.

BOOSTED ADASSP  Tang, Aydore, Kearns, Rho, Roth, Wang, Wang and Wu, Improved Differentially Private Regression via
    Gradient Boosting (2023, arXiv 2303.03451), Algorithm 1, with its constants: mu^2 in three equal parts, for X'X,
    for its least eigenvalue and for ROUNDS = 100 rounds of X' clip(residual, Y); ridge max(0, 1.96 sqrt(p) sigma -
    (least eigenvalue's release less 1.96 sigma)); step 1.  Bounds are the public R and Y.  Squared loss.
"""

import json
import math
import subprocess

import numpy as np
from footing import objective

BATCH, EPOCHS, ROUNDS = 1024, 10, 100
RATES, BETAS = (0.3, 1.0, 3.0, 10.0, 30.0), (0.9, 0.999)


def sampled_noise(program, rate, steps, epsilon, delta):
    """Noise multiplier of `steps` Poisson batches; the accountant is tacit's."""
    command = [str(program), "account", f"sampled_gaussian:rate={rate!r},count={steps}"]
    command += ["--epsilon", repr(epsilon), "--delta", repr(delta), "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return float(told["events"][0].split("noise=")[1].split(",")[0])


def geoclip_noise(program, n, epsilon, delta):
    return sampled_noise(program, BATCH / n, round(EPOCHS * n / BATCH), epsilon, delta)


def slope(margin, y, squared):
    return margin - y if squared else -y / (1 + np.exp(np.clip(y * margin, -60, 60)))


def geoclip(problem, sigma, rates, betas, seed):
    """Weights [p, k] of k pairs (rate, beta), all on the same batches."""
    rng, (n, p), k = np.random.default_rng(seed), problem.X.shape, len(rates)
    W, a = np.zeros((k, p)), np.zeros((k, p))
    S, M, back = (np.tile(np.eye(p), (k, 1, 1)) for _ in range(3))
    rates, betas = np.array(rates)[:, None], np.array(betas)[:, None, None]
    for _ in range(round(EPOCHS * n / BATCH)):
        batch = np.flatnonzero(rng.random(n) < BATCH / n)
        X, y = problem.X[batch], problem.y[batch]
        g = slope(X @ W.T, y[:, None], problem.squared).T[:, :, None]
        u = g * (X @ M.transpose(0, 2, 1)) - np.einsum("kij,kj->ki", M, a)[:, None, :]
        u *= np.minimum(1, 1 / np.maximum(np.linalg.norm(u, axis=2, keepdims=True), 1e-300))
        noisy = (u.sum(axis=1) + sigma * rng.standard_normal((k, p))) / BATCH
        g = np.einsum("kij,kj->ki", back, noisy) + a
        W = W - rates * (g + problem.lam * W)
        off = g - a
        a = 0.99 * a + 0.01 * g
        S = betas * S + (1 - betas) * off[:, :, None] * off[:, None, :]
        l, U = np.linalg.eigh(S)
        l = np.clip(l, 1e-15, 10)
        root = np.sqrt(np.sqrt(l).sum(axis=1))[:, None, None]
        M = (U * l[:, None, :] ** -0.25).transpose(0, 2, 1) / root
        back = U * l[:, None, :] ** 0.25 * root
    return W.T


def tuned_geoclip(problem, sigma, seeds):
    """[weights] at the rate and beta that are best with other noise, and the setting."""
    pairs = [(r, b) for r in RATES for b in BETAS]
    with np.errstate(all="ignore"):
        tried = objective(problem, geoclip(problem, sigma, *zip(*pairs), 1000))
    rate, beta = pairs[int(np.argmin(np.where(np.isfinite(tried), tried, np.inf)))]
    return [geoclip(problem, sigma, [rate], [beta], s)[:, 0] for s in seeds], json.dumps({"rate": rate, "beta": beta})


def boosted_adassp(problem, mu, R, Y, seed):
    """Weights; R and Y are the public bounds."""
    rng, X, p = np.random.default_rng(seed), problem.X, problem.X.shape[1]
    sigma = R * R / (mu / math.sqrt(3))
    E = np.triu(sigma * rng.standard_normal((p, p)))
    G = X.T @ X
    least = max(0, np.linalg.eigvalsh(G)[0] + sigma * rng.standard_normal() - 1.96 * sigma)
    A = G + E + np.triu(E, 1).T + max(0, 1.96 * math.sqrt(p) * sigma - least) * np.eye(p)
    w, deviation = np.zeros(p), R * Y * math.sqrt(3 * ROUNDS) / mu
    for _ in range(ROUNDS):
        residual = np.clip(problem.y - X @ w, -Y, Y)
        w = w + np.linalg.solve(A, X.T @ residual + deviation * rng.standard_normal(p))
    return w
