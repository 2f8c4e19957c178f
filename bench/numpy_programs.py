# SPDX-License-Identifier: Apache-2.0
"""Programs as users of NumPy write them. Each is a function of the array module (NumPy, or CuPy) and of sizes, makes
its data on the host from a fixed seed, and returns an array that tells of all that it computed."""
import numpy


def host_random():
    return numpy.random.default_rng(7)


def heat(np, n, steps):
    """Diffusion of heat on an n x n plate with a hot edge, by explicit steps."""
    u = np.zeros((n, n))
    u[0] = 100.0
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u[: n // 4].mean(axis=1)


def nbody(np, n, steps):
    """n bodies that attract each other, all pairs, leapfrog."""
    rng = host_random()
    at, speed, mass = (np.asarray(rng.normal(size=shape)) for shape in ((n, 3), (n, 3), (n, 1)))
    mass = abs(mass)
    for _ in range(steps):
        apart = at[None, :, :] - at[:, None, :]
        distance = np.sqrt((apart**2).sum(axis=2) + 0.01)
        force = (apart * (mass.T / distance**3)[:, :, None]).sum(axis=1)
        speed = speed + 0.001 * force
        at = at + 0.001 * speed
    return np.concatenate([at.mean(axis=0), speed.std(axis=0)])


def asian_option(np, paths, steps):
    """Price of an Asian call by simulation of the stock's paths."""
    rng = host_random()
    price, total = np.full(paths, 100.0), np.zeros(paths)
    for _ in range(steps):
        price = price * np.exp(0.0002 + 0.01 * np.asarray(rng.standard_normal(paths)))
        total += price
    payoff = np.maximum(total / steps - 100.0, 0.0)
    return np.stack([payoff.mean(), payoff.std(), (payoff > 0).mean()])


def k_means(np, n, clusters, steps):
    """Lloyd's algorithm on n points of 16 coordinates."""
    points = np.asarray(host_random().normal(size=(n, 16)))
    centres = points[:clusters].copy()
    for _ in range(steps):
        distances = (points**2).sum(axis=1)[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1)
        nearest = distances.argmin(axis=1)
        for k in range(clusters):
            members = nearest == k
            centres[k] = np.where(members[:, None], points, 0).sum(axis=0) / np.maximum(members.sum(), 1)
    return centres.ravel()


def logistic_regression(np, n, features, steps):
    rng = host_random()
    x = np.asarray(rng.normal(size=(n, features)))
    y = (x @ np.asarray(rng.normal(size=features)) + np.asarray(rng.normal(size=n)) > 0).astype(float)
    w = np.zeros(features)
    for _ in range(steps):
        p = 1.0 / (1.0 + np.exp(-(x @ w)))
        w -= 0.5 * (x.T @ (p - y)) / n
    return w


def mandelbrot(np, n, steps):
    """Steps until a point escapes, those that have escaped being masked out."""
    y, x = np.linspace(-1.5, 1.5, n)[:, None], np.linspace(-2.0, 1.0, n)[None, :]
    c = x + 1j * y
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    for _ in range(steps):
        inside = abs(z) < 2.0
        z = np.where(inside, z * z + c, z)
        count += inside
    return count.sum(axis=1)


def page_rank(np, n):
    """Power iteration on a dense matrix of links until nothing moves."""
    links = np.asarray(host_random().random((n, n)) < 0.01).astype(float)
    links /= np.maximum(links.sum(axis=0), 1.0)
    rank = np.full(n, 1.0 / n)
    moved, steps = 1.0, 0
    while moved > 1e-9:
        following = 0.15 / n + 0.85 * (links @ rank)
        following /= following.sum()
        moved = float(abs(following - rank).sum())
        rank = following
        steps += 1
    return rank


def edges(np, n, images):
    """Sobel's filter over images of bytes, each scaled to its own strongest edge."""
    found = []
    for image in host_random().integers(0, 256, (images, n, n), dtype=numpy.uint8):
        a = np.asarray(image).astype(np.float32)
        across = a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:] - a[:-2, :-2] - 2 * a[1:-1, :-2] - a[2:, :-2]
        down = a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:] - a[:-2, :-2] - 2 * a[:-2, 1:-1] - a[:-2, 2:]
        strength = np.hypot(across, down)
        found.append((strength * (255 / strength.max())).astype(np.uint8).sum(dtype=np.int64))
    return np.stack(found)


def poisson(np, n, solves):
    """Poisson's equation on a torus, by its Fourier transform."""
    waves = np.fft.fftfreq(n, 1.0 / n)
    divisor = -(waves[:, None] ** 2 + waves[None, :] ** 2)
    divisor[0, 0] = 1.0
    field = np.asarray(host_random().normal(size=(n, n)))
    for _ in range(solves):
        spectrum = np.fft.fft2(field - field.mean()) / divisor
        spectrum[0, 0] = 0.0
        field = np.fft.ifft2(spectrum).real
        field /= abs(field).max()
    return field[::16, ::16].ravel()


def network(np, samples, width, steps):
    """Training of a network of one hidden layer for ten classes, single precision."""
    rng = host_random()
    x = np.asarray(rng.normal(size=(samples, 784)).astype(numpy.float32))
    label = np.asarray(rng.integers(0, 10, samples))
    first = np.asarray((rng.normal(size=(784, width)) / 28).astype(numpy.float32))
    second = np.asarray((rng.normal(size=(width, 10)) / 16).astype(numpy.float32))
    wanted = (label[:, None] == np.arange(10)).astype(np.float32)
    losses = []
    for _ in range(steps):
        hidden = np.maximum(x @ first, 0)
        logits = hidden @ second
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        losses.append(-(wanted * np.log(p + np.float32(1e-9))).sum(axis=1).mean())
        error = (p - wanted) / np.float32(samples)
        back = error @ second.T
        back[hidden <= 0] = 0
        second -= np.float32(0.1) * (hidden.T @ error)
        first -= np.float32(0.1) * (x.T @ back)
    return np.stack(losses)


def life(np, n, steps):
    """Conway's game of life on a torus."""
    alive = np.asarray(host_random().integers(0, 2, (n, n), dtype=numpy.int8))
    for _ in range(steps):
        neighbours = sum(np.roll(np.roll(alive, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        alive = ((neighbours == 3) | ((alive == 1) & (neighbours == 2))).astype(np.int8)
    return alive.sum(axis=0)


def correlations(np, n, columns):
    """Principal axes of standardised columns."""
    x = np.asarray(host_random().normal(size=(n, columns))) * np.linspace(1, 5, columns) + 3
    x[:, 1:] += 0.5 * x[:, :-1]
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return np.linalg.eigh(z.T @ z / n)[0]


def statistics(np, n):
    """What stays on the host (sorting, histograms) between what does not."""
    rng = host_random()
    a, b = np.asarray(rng.normal(size=n)), np.asarray(rng.normal(size=n))
    radius = np.sqrt(a * a + b * b)
    angle = np.arctan2(b, a)
    counts = np.histogram(radius, bins=50, range=(0.0, 5.0))[0]
    order = np.sort(radius)[:: n // 50]
    tail = radius[radius > np.percentile(radius, 99)]
    return np.concatenate([counts / n, order, np.stack([angle.mean(), tail.mean(), tail.std()])])


def orbit(np, steps):
    """Lorenz's system, whose arrays have three elements: nothing here is worth a device."""
    state, total = np.array([1.0, 1.0, 1.0]), np.zeros(3)
    for _ in range(steps):
        change = np.stack([10.0 * (state[1] - state[0]), state[0] * (28.0 - state[2]) - state[1],
                           state[0] * state[1] - 8.0 / 3.0 * state[2]])
        state = state + 0.001 * change
        total += state
    return total / steps


def row_by_row(np, rows, columns):
    """A loop over the rows of a large array, as beginners write it."""
    table = np.asarray(host_random().normal(size=(rows, columns)))
    table = table * 2.0 + 1.0
    totals = np.zeros(rows)
    for i in range(rows):
        row = table[i]
        totals[i] = np.sqrt((row - row.mean()) @ (row - row.mean()) / columns)
    return totals
