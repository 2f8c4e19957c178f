# SPDX-License-Identifier: Apache-2.0
"""The process under the shim: runs programs that arrive on stdin, and answers on stdout.

Both directions are pickles with their length before them (8 bytes). A request is (statements,
observed values of the plain run), an answer (steps, observed, data, calls that the device computed so
far). Worker is the other end.
"""
import ctypes
import json
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def send(stream, message):
    data = pickle.dumps(message, protocol=4)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def receive(stream):
    head = stream.read(8)
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0])) if len(head) == 8 else None


class Died(Exception):
    """The worker ended or did not answer in time; str() says how."""


class Worker:
    """A process under the shim, started when first needed and again after it died."""

    def __init__(self, environment, patience):
        self.environment, self.patience = environment, patience
        self.process, self.history = None, []
        self.device_calls = 0  # of the process that runs
        self.device_calls_before = 0  # of those that ended

    def ask(self, statements, observed):
        if self.process is None:
            self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__)], env=self.environment,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            self.history = []
        self.history.append(list(statements))
        try:
            send(self.process.stdin, (statements, observed))
        except OSError:
            pass  # it died: the answer will say so
        answer = self.wait_for_answer()
        if isinstance(answer, str):
            self.close()
            raise Died(answer)
        self.device_calls = answer[3]
        return answer[:3]

    def wait_for_answer(self):
        """The answer, or a text that says why there is none."""
        end = time.monotonic() + self.patience
        while not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
            if time.monotonic() >= end:
                return "no answer in %g s" % self.patience
        answer = receive(self.process.stdout)
        if answer is None:
            status = self.process.wait()
            return "died: %s" % (signal.Signals(-status).name if status < 0 else "exit status %d" % status)
        return answer

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
            self.process.stdout.close()
            self.process = None
            self.device_calls_before += self.device_calls
            self.device_calls = 0


def device_calls():
    """How many calls the device has computed in this process, from the shim's report."""
    report = ctypes.CDLL(None).gpushim_report_json
    report.restype, report.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]
    buffer = ctypes.create_string_buffer(1 << 20)
    length = report(buffer, len(buffer))
    return sum(row["device_calls"] for row in json.loads(buffer.raw[:length])["operations"])


def main():
    import fuzz_program
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints does not disturb the answers
    while True:
        request = receive(sys.stdin.buffer)
        if request is None:
            return
        done = fuzz_program.run(*request)
        send(answers, (done.steps, done.observed, done.data(), device_calls()))


if __name__ == "__main__":
    main()
