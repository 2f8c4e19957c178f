# SPDX-License-Identifier: Apache-2.0
"""A network with one hidden layer learns ten classes, by gradient descent in single precision."""
import numpy as np

SAMPLES, INPUTS, HIDDEN, CLASSES, STEPS = 12_000, 784, 800, 10, 25

rng = np.random.default_rng(4)
label = rng.integers(0, CLASSES, SAMPLES)
x = rng.normal(size=(SAMPLES, INPUTS)).astype(np.float32) + 0.2 * label[:, None].astype(np.float32)
wanted = np.eye(CLASSES, dtype=np.float32)[label]
first = (rng.normal(size=(INPUTS, HIDDEN)) / 28).astype(np.float32)
second = (rng.normal(size=(HIDDEN, CLASSES)) / 28).astype(np.float32)
for _ in range(STEPS):
    hidden = np.maximum(x @ first, 0)
    score = hidden @ second
    probability = np.exp(score - score.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    error = (probability - wanted) / np.float32(SAMPLES)
    back = np.where(hidden > 0, error @ second.T, np.float32(0))
    second -= np.float32(0.05) * (hidden.T @ error)
    first -= np.float32(0.05) * (x.T @ back)
loss = -np.log((probability * wanted).sum(axis=1) + np.float32(1e-9)).mean()
print("loss %.2f, %.0f %% right" % (loss, 100 * np.mean(probability.argmax(axis=1) == label)))
