# SPDX-License-Identifier: Apache-2.0
"""The price of an Asian call: the pay-off hangs on the mean of the stock's price over a year. By simulation of many paths."""
import numpy as np

PATHS, DAYS, PRICE, STRIKE, RATE, VOLATILITY = 200_000, 252, 100.0, 105.0, 0.03, 0.25

rng = np.random.default_rng(2)
step = 1.0 / DAYS
logarithm, total = np.full(PATHS, np.log(PRICE)), np.zeros(PATHS)
for _ in range(DAYS):
    logarithm += (RATE - VOLATILITY**2 / 2) * step + VOLATILITY * np.sqrt(step) * rng.standard_normal(PATHS)
    total += np.exp(logarithm)
payoff = np.exp(-RATE) * np.maximum(total / DAYS - STRIKE, 0.0)
print("price %.6f, standard error %.6f" % (payoff.mean(), payoff.std() / np.sqrt(PATHS)))
