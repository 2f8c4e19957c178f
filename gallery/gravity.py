# SPDX-License-Identifier: Apache-2.0
"""Bodies that attract each other, all pairs, by the leapfrog scheme."""
import numpy as np

BODIES, STEPS, STEP, SOFTENING = 3000, 20, 0.001, 0.01

rng = np.random.default_rng(1)
position, velocity = rng.normal(size=(3, BODIES)), rng.normal(size=(3, BODIES))
mass = rng.uniform(0.5, 1.5, BODIES)
for _ in range(STEPS):
    apart = position[:, None, :] - position[:, :, None]
    weight = mass / (np.sum(apart * apart, axis=0) + SOFTENING) ** 1.5
    velocity += STEP * np.sum(apart * weight, axis=2)
    position += STEP * velocity
print("centre of mass: %s, kinetic energy: %.9f" % (np.round(position @ mass / mass.sum(), 9), 0.5 * np.sum(mass * velocity**2)))
