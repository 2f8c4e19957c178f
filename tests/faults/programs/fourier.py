# SPDX-License-Identifier: Apache-2.0
"""Transforms of one and more dimensions, real and complex, and what is computed with them."""
import numpy as np

from results import finish, show

rng = np.random.default_rng(2)
x = rng.random(12000)
z = x[:6000] + 1j * x[6000:]
f = np.fft.fft(z)
show("complex", f, exact=False)
show("and back", np.fft.ifft(f), exact=False)
show("real", np.fft.rfft(x), exact=False)
show("real, back", np.fft.irfft(np.fft.rfft(x)), exact=False)
image = x.reshape(100, 120)
spectrum = np.fft.rfft2(image)
spectrum *= np.exp(-np.arange(61) * 0.01)
show("filtered", np.fft.irfft2(spectrum, s=image.shape), exact=False)
show("axis", np.fft.fft(image, axis=0), exact=False)
cube = x[:8000].reshape(20, 20, 20)
show("cube", np.fft.fftn(cube), exact=False)
show("padded", np.fft.fft(x[:5000], 8192), exact=False)
show("shifted", np.fft.fftshift(np.fft.fft2(image)), exact=False)
show("power", (np.abs(f) ** 2).sum(), exact=False)
show("hermitian", np.fft.hfft(z[:500]), exact=False)
show("float32", np.fft.rfft(x.astype(np.float32)).real, exact=False)
show("convolution", np.fft.irfft(np.fft.rfft(x, 16384) * np.fft.rfft(x[::-1].copy(), 16384)), exact=False)
finish()
