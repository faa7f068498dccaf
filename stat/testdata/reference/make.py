"""Writes python.json: values of SciPy, ruptures and brute force for package stat's tests."""
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import ruptures
from scipy import optimize, special, stats

rng = np.random.default_rng(20240229)


def floats(xs):
    return [float(x) for x in xs]


def binomial():
    for n in (1, 2, 7, 12, 50, 51, 100, 1000, 36887, 1_000_000):
        for p in (1e-6, 0.001, 0.01, 0.3, 0.5, 0.9, 0.95, 0.999, 0.9999):
            sd = math.sqrt(n * p * (1 - p))
            for z in (-6, -2, -0.5, 0, 0.5, 2, 6):
                k = int(n * p + z * sd)
                if 0 <= k <= n:
                    yield dict(k=k, n=n, p=p, cdf=float(stats.binom.cdf(k, n, p)), survival=float(stats.binom.sf(k, n, p)))


def sign_rank():
    for n in list(range(1, 70)) + [100, 1000, 5000]:
        for confidence in (0.8, 0.9, 0.95, 0.99, 1 - 0.05 / 4, 1 - 0.05 / 12):
            alpha, total, rank = Fraction(1 - confidence), 0, 0
            for i in range(n + 1):
                total += math.comb(n, i)
                if Fraction(2 * total, 2**n) > alpha:
                    break
                rank = i + 1
            yield dict(n=n, confidence=confidence, rank=rank)


def quantile_interval():
    for n in (5, 6, 36, 71, 72, 100, 367, 368, 1000, 3688, 36886, 36887, 1_000_000):
        for q in (0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999):
            for confidence in (0.95, 0.99):
                tail = (1 - confidence) / 2
                lo = int(stats.binom.ppf(tail, n, q)) + 1
                while lo > 0 and stats.binom.cdf(lo - 1, n, q) > tail:
                    lo -= 1
                hi = int(stats.binom.isf(tail, n, q))
                while stats.binom.sf(hi - 1, n, q) > tail:
                    hi += 1
                while stats.binom.sf(hi - 2, n, q) <= tail:
                    hi -= 1
                yield dict(n=n, q=q, confidence=confidence, lo=lo, hi=hi)


def equivalence():
    for n in (5, 6, 9, 12, 24, 60):
        for center in (0, 0.5, 1.2):
            xs = rng.normal(center, 0.6, n)
            up = stats.binomtest(int((xs > -1).sum()), n, 0.5, "greater").pvalue
            down = stats.binomtest(int((xs < 1).sum()), n, 0.5, "greater").pvalue
            yield dict(xs=floats(xs), low=-1, high=1, p=float(max(up, down)))


def s_of(ys):
    return int(sum(np.sign(ys[j] - ys[i]) for i in range(len(ys)) for j in range(i + 1, len(ys))))


def trend():
    """Every order of every block."""
    shapes = [[[1, 2, 3, 4]], [[2, 1, 3, 5, 4, 6]], [[1, 1, 2, 3]], [[1, 2, 2, 2, 1]],
              [[1, 2, 3], [1, 3, 2]], [[1, 2, 3, 3], [2, 1, 1], [4, 5]], [[3, 1, 2], [1, 2, 3], [1, 2, 3]]]
    for blocks in shapes:
        s = sum(map(s_of, blocks))
        sums = {0: Fraction(1)}
        for block in blocks:
            orders = list(itertools.permutations(block))
            one = {}
            for order in orders:
                one[s_of(order)] = one.get(s_of(order), 0) + Fraction(1, len(orders))
            both = {}
            for (a, p), (b, q) in itertools.product(sums.items(), one.items()):
                both[a + b] = both.get(a + b, 0) + p * q
            sums = both
        yield dict(blocks=blocks, up=float(sum(p for a, p in sums.items() if a >= s)),
                   down=float(sum(p for a, p in sums.items() if a <= s)))


def kendall():
    for n in (5, 8, 12, 20):
        for slope in (0, 0.1, 0.3):
            ys = slope * np.arange(n) + rng.normal(size=n)
            for side in ("greater", "less"):
                tau = stats.kendalltau(np.arange(n), ys, method="exact", alternative=side)
                yield dict(ys=floats(ys), side=side, tau=float(tau.statistic), p=float(tau.pvalue))


def line():
    for n in (2, 3, 5, 8, 13):
        xs = np.sort(rng.choice(40, n, replace=False)).astype(float)
        ys = 3 - 0.7 * xs + rng.standard_t(2, n)
        fit = stats.theilslopes(ys, xs, method="joint")
        yield dict(xs=floats(xs), ys=floats(ys), slope=float(fit.slope), intercept=float(fit.intercept))


def mser5():
    """The definition, loop by loop."""
    for n in (50, 73, 200, 400):
        for kind in range(4):
            xs = rng.normal(10, 1, n)
            if kind == 1:
                xs += 20 * np.exp(-np.arange(n) / (n / 20))
            if kind == 2:
                xs += np.arange(n) * 0.2
            if kind == 3:
                xs[: n // 4] += 5
            z = xs[: n // 5 * 5].reshape(-1, 5).mean(axis=1)
            scores = [z[d:].var() / (len(z) - d) for d in range(len(z) // 2 + 1)]
            cut = int(np.argmin(scores))
            yield dict(xs=floats(xs), cut=5 * cut, limit=cut == len(z) // 2, error=float(math.sqrt(min(scores))))


class NormalCost(ruptures.base.BaseCost):
    """Twice the negative log likelihood of a normal stretch."""
    model, min_size = "meanvar", 2

    def fit(self, signal):
        self.signal = signal.reshape(-1)
        return self

    def error(self, start, end):
        part = self.signal[start:end]
        return len(part) * (math.log(2 * math.pi * part.var()) + 1)


def pelt():
    for n in (20, 60, 150, 300):
        for kind in range(4):
            xs = rng.normal(5, 1, n)
            if kind == 1:
                xs[n // 3:] += 4
            if kind == 2:
                xs[n // 2:] = 5 + 6 * (xs[n // 2:] - 5)
            if kind == 3:
                xs[n // 4: n // 2] += 3
                xs[2 * n // 3:] -= 2
            for penalty in (3 * math.log(n), 15 * math.log(n)):
                search = ruptures.Pelt(custom_cost=NormalCost(), min_size=2, jump=1).fit(xs)
                yield dict(xs=floats(xs), penalty=penalty, changes=[int(t) for t in search.predict(pen=penalty)[:-1]])


def isotonic():
    for n in (1, 2, 7, 30):
        ys, weights = rng.normal(np.arange(n) * 0.1, 1), rng.uniform(0.2, 5, n)
        fit = optimize.isotonic_regression(ys, weights=weights)
        yield dict(ys=floats(ys), weights=floats(weights), fit=floats(fit.x))


def fisher():
    for table in ([3, 1, 1, 3], [0, 12, 5, 7], [10, 2, 3, 15], [1, 99, 9, 91], [0, 5000, 12, 4988], [8, 8, 8, 8], [2, 3, 6, 4]):
        yield dict(table=table, p=float(stats.fisher_exact([table[:2], table[2:]]).pvalue))


def mann_whitney():
    for m, n in ((1, 1), (4, 4), (5, 7), (12, 12), (50, 50)):
        xs, ys = rng.normal(0, 1, m), rng.normal(0.8, 1, n)
        test = stats.mannwhitneyu(xs, ys, method="exact")
        yield dict(xs=floats(xs), ys=floats(ys), u=float(test.statistic), p=float(test.pvalue))
    for m, n in ((3, 4), (5, 5), (6, 4)):  # ties: every division
        xs, ys = rng.integers(0, 4, m), rng.integers(1, 5, n)
        both = np.concatenate([xs, ys])
        ranks = stats.rankdata(both)
        sums = [sum(ranks[list(c)]) for c in itertools.combinations(range(m + n), m)]
        mine = sum(ranks[:m])
        low, high = np.mean([s <= mine for s in sums]), np.mean([s >= mine for s in sums])
        yield dict(xs=floats(xs), ys=floats(ys), u=float(mine - m * (m + 1) / 2), p=float(min(1, 2 * min(low, high))))
    xs, ys = np.round(rng.normal(0, 1, 80), 1), np.round(rng.normal(0.3, 1, 70), 1)
    test = stats.mannwhitneyu(xs, ys, method="asymptotic")
    yield dict(xs=floats(xs), ys=floats(ys), u=float(test.statistic), p=float(test.pvalue))


def operations():
    """As LoadGen has it: the incomplete beta function."""
    for q in (0.9, 0.95, 0.99, 0.999):
        for confidence in (0.95, 0.99):
            for bad in (0, 1, 2, 5, 20, 100):
                good = next(h for h in itertools.count(1) if special.betainc(h, bad + 1, q) <= 1 - confidence) if q < 0.999 else None
                if good is None:
                    low, high = 0, 10**7
                    while high - low > 1:
                        middle = (low + high) // 2
                        low, high = (low, middle) if special.betainc(middle, bad + 1, q) <= 1 - confidence else (middle, high)
                    good = high
                yield dict(q=q, confidence=confidence, bad=bad, n=good + bad)


makers = [binomial, sign_rank, quantile_interval, equivalence, trend, kendall, line, mser5, pelt, isotonic, fisher, mann_whitney, operations]
with open("python.json", "w") as file:
    file.write("{\n" + ",\n".join(f'"{make.__name__}": [\n' + ",\n".join(json.dumps(case) for case in make()) + "\n]" for make in makers) + "\n}\n")
