"""Confidence intervals of an efficiency: k of n passed. Formulas: L. D. Brown, T. T. Cai, A. DasGupta, Statistical
Science 16 (2001) 101, as TEfficiency uses them."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from ..errors import InvalidError


def interval(
    kind: str, passed: np.ndarray, total: np.ndarray, level: float, prior: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits; 0 and 1 where nothing was counted.

    Args:
        kind: clopper-pearson, normal, wilson, agresti-coull, jeffreys, uniform or bayesian.
        passed: number of entries that passed.
        total: number of all entries.
        level: the confidence level.
        prior: alpha and beta of the prior, for Bayesian intervals.
    """
    tail = (1 - level) / 2
    kappa = NormalDist().inv_cdf(1 - tail)
    k, n = passed, total
    some = n > 0
    safe = np.where(some, n, 1)
    p = np.where(some, k / safe, 0)
    if kind == "clopper-pearson":
        low = np.where(k > 0, beta_quantile(tail, np.maximum(k, 1), n - k + 1), 0)
        high = np.where(k < n, beta_quantile(1 - tail, k + 1, np.maximum(n - k, 1)), 1)
    elif kind in ("jeffreys", "uniform", "bayesian"):
        alpha, beta = k + prior[0], n - k + prior[1]
        return beta_quantile(tail, alpha, beta), beta_quantile(1 - tail, alpha, beta)
    elif kind == "normal":
        # as in ROOT
        width = kappa * np.maximum(np.sqrt(p * (1 - p) / safe), 0)
        low, high = np.maximum(p - width, 0), np.minimum(p + width, 1)
    elif kind == "wilson":
        middle = (k + kappa**2 / 2) / (safe + kappa**2)
        width = kappa / (safe + kappa**2) * np.sqrt(safe * p * (1 - p) + kappa**2 / 4)
        low, high = np.maximum(middle - width, 0), np.minimum(middle + width, 1)
    elif kind == "agresti-coull":
        middle = (k + kappa**2 / 2) / (safe + kappa**2)
        width = kappa * np.sqrt(middle * (1 - middle) / (safe + kappa**2))
        low, high = np.maximum(middle - width, 0), np.minimum(middle + width, 1)
    else:
        raise InvalidError(f"{kind} intervals are not supported")
    return np.where(some, low, 0), np.where(some, high, 1)


def beta_quantile(probability: float, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The value below which the beta distribution has this probability, by bisection to the last bit."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    low, high = np.zeros_like(a), np.ones_like(a)
    for _ in range(60):
        middle = (low + high) / 2
        below = beta_probability(middle, a, b) < probability
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def beta_probability(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    from math import lgamma

    logs = np.vectorize(lgamma, otypes=[float])
    swap = x > (a + 1) / (a + b + 2)
    x, a, b = np.where(swap, 1 - x, x), np.where(swap, b, a), np.where(swap, a, b)
    inside = (x > 0) & (x < 1)
    y = np.where(inside, x, 0.5)
    front = np.exp(logs(a + b) - logs(a) - logs(b) + a * np.log(y) + b * np.log1p(-y)) / a
    # modified Lentz
    tiny = 1e-300
    c, d = np.ones_like(y), 1 - (a + b) * y / (a + 1)
    d = 1 / np.where(np.abs(d) < tiny, tiny, d)
    fraction = d
    for m in range(1, 200):
        for term in (
            m * (b - m) * y / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * y / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / np.where(np.abs(d) < tiny, tiny, d)
            c = 1 + term / c
            c = np.where(np.abs(c) < tiny, tiny, c)
            step = c * d
            fraction = fraction * step
        if np.all(np.abs(step - 1) < 1e-15):
            break
    result = np.where(inside, front * fraction, np.where(x > 0, 1.0, 0.0))
    return np.where(swap, 1 - result, result)
