"""score_cells.py - the noise of private scores of two classes by how cells share it (docs/decisions/score-cells.md).

    python3 bench/papers/score_cells.py

Exact, without a draw: 60 pairs of normal classes, half and a fifth positives, 32 cells.  Prints one JSON line for each
pair of constants: the area's noise (mean and worst), accuracy's, in units of one count among the fewer, or among all;
and how far the area of cells lies off.
"""

import json
import math

import numpy as np

CELLS, ZERO, SPAN = 32, 16, 6


def edges():
    part = np.abs(np.arange(CELLS + 1) - ZERO) / ZERO
    return np.sign(np.arange(CELLS + 1) - ZERO) * SPAN * part / (2 - part)


def shares(mean, deviation):
    below = np.array([0.5 * math.erfc((mean - e) / deviation / math.sqrt(2)) for e in edges()])
    below[0], below[-1] = 0, 1
    return np.diff(below)


def pairs():
    for apart in (0.5, 1, 1.7, 2.5):
        for deviation in (0.3, 0.7, 1, 1.5, 2):
            for centre in (-2, 0, 2):
                yield apart, shares(centre - apart * deviation / 2, deviation), shares(centre + apart * deviation / 2, deviation)


def weights():
    """What a record of each class and cell is worth in the area, times the fewer class's part; how far it is off."""
    for apart, minus, plus in pairs():
        below, above = np.cumsum(minus) - minus / 2, 1 - np.cumsum(plus) + plus / 2
        area = plus @ below
        for part in (0.5, 0.2):
            few = min(part, 1 - part)
            yield np.concatenate([(above - area) * few / (1 - part), (below - area) * few / part]), abs(
                area - 0.5 * math.erfc(-apart / 2)
            )


def covariance(kept, middle):
    """Of the counts, less what the known number of rows tells."""
    r = np.full(CELLS, kept)
    r[ZERO] = middle
    r[0] = 0
    inverse = np.eye(CELLS) - np.diag(r[1:], 1)  # x_c = t_c - r_(c+1) t_(c+1)
    own = inverse @ np.diag(1 / (1 - r * r)) @ inverse.T
    both = np.kron(np.eye(2), own)
    one = both.sum(1)
    return both - np.outer(one, one) / one.sum()


def main():
    listed = list(weights())
    v, off = np.array([w for w, _ in listed]), np.array([o for _, o in listed])
    right = np.concatenate([np.arange(CELLS) < ZERO, np.arange(CELLS) >= ZERO]).astype(float)
    for kept, middle in ((0, 0), (0.8, 0.3), (0.85, 0.3), (0.9, 0.3), (0.9, 0.7), (0.95, 0.3)):
        c = covariance(kept, middle)
        area = np.sqrt(np.einsum("si,ij,sj->s", v, c, v))
        figures = {"area": area.mean(), "worst": area.max(), "accuracy": math.sqrt(right @ c @ right), "off": off.mean(), "off_worst": off.max()}
        print(json.dumps({"r": kept, "r_at_0": middle, **{k: round(float(f), 3) for k, f in figures.items()}}))


main()
