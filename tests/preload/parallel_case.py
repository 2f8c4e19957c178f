# SPDX-License-Identifier: Apache-2.0
"""What the tests of several cores share: the settings, and a comparison with NumPy alone."""
import shim_runner

CORES = {"GPUSHIM_DEVICE": "cpu", "GPUSHIM_MODE": "auto", "GPUSHIM_HOST_THREADS": "4"}
BESIDE = {"GPUSHIM_MODE": "auto", "GPUSHIM_HOST_THREADS": "4", "GPUSHIM_START_MS": "100000000"}  # a device that is never started


class ParallelCase(shim_runner.TestCase):
    def parallel(self, result):
        """What a run computed on several cores."""
        raise NotImplementedError

    def compare(self, script, env=CORES, args=(), least=1):
        """Runs plainly and with several cores, which must compute at least so much."""
        plain = shim_runner.run_plain(script, args)
        result = shim_runner.run(script, env=env, args=args)
        self.assertEqual(plain.returncode, 0, plain)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.stdout, plain.stdout)
        self.assertEqual(result.stderr, plain.stderr)
        self.assertGreaterEqual(self.parallel(result), least)
        return result
