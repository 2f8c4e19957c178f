# SPDX-License-Identifier: Apache-2.0
"""GPUSHIM_NVTX: ranges for NVIDIA's profilers, as a library receives them that NVTX loads as it loads a profiler's. It knows NVTX's
binary interface from its own declarations, not from the header that the library was built with."""
import collections
import glob
import json
import os
import subprocess
import tempfile
import unittest

import shim_runner

RECEIVER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
};
typedef void function(void);
struct callbacks {
    size_t size;
    int (*get_table)(int module, function ****table, unsigned *count);
};
enum { CALLBACKS = 1, CORE2 = 5, PUSH = 4, POP = 5, CREATE_DOMAIN = 12 };

static FILE *out;
static char domain;

static void *create_domain(const char *name)
{
    fprintf(out, "{\"domain\": \"%s\"}\n", name);
    return &domain;
}

static int push(void *where, const struct event *event)
{
    fprintf(out, "{\"push\": \"%s\", \"payload\": %llu, \"thread\": %ld, \"good\": %d}\n", event->message,
            (unsigned long long)(event->payload_type ? event->payload : 0), syscall(SYS_gettid),
            where == &domain && event->version == 3 && event->size == sizeof *event && event->message_type == 1);
    return 0;
}

static int pop(void *where)
{
    fprintf(out, "{\"pop\": %d, \"thread\": %ld}\n", where == &domain, syscall(SYS_gettid));
    return 0;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t))
{
    const struct callbacks *callbacks = get_export_table(CALLBACKS);
    function ***table = NULL;
    unsigned count = 0;
    char name[4096];
    if (!callbacks || !callbacks->get_table(CORE2, &table, &count) || count <= CREATE_DOMAIN)
        return 0;
    snprintf(name, sizeof name, "%s/%d.txt", getenv("RECEIVED"), getpid());
    out = fopen(name, "w");
    setvbuf(out, NULL, _IOLBF, 0);
    *table[PUSH] = (function *)push;
    *table[POP] = (function *)pop;
    *table[CREATE_DOMAIN] = (function *)create_domain;
    return 1;
}
"""
PROGRAM = """
import numpy as np
a = np.random.Generator(np.random.SFC64(0)).random(400000)  # made on the CPU
b = a * 2 + 1
print(round(float(np.sqrt(b).sum()), 6))
print(b.tolist()[3])                        # a page fault, on the service thread
"""


class Received:
    """What a process sent: `domains`, `names` with their counts, `payloads` by name, `crossed`: ends without a beginning."""

    def __init__(self, path):
        self.domains, self.names, self.payloads, self.bad = [], collections.Counter(), collections.defaultdict(list), 0
        depth = collections.Counter()
        with open(path, encoding="utf-8") as stream:
            for line in map(json.loads, stream):
                if "domain" in line:
                    self.domains.append(line["domain"])
                elif "push" in line:
                    self.names[line["push"]] += 1
                    self.payloads[line["push"]].append(line["payload"])
                    self.bad += not line["good"]
                    depth[line["thread"]] += 1
                else:
                    depth[line["thread"]] -= 1
                    self.bad += not line["pop"] or depth[line["thread"]] < 0
        self.open, self.threads = sum(depth.values()), set(depth)


class TestNvtx(shim_runner.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="shim-nvtx-")
        cls.addClassCleanup(folder.cleanup)
        cls.library = os.path.join(folder.name, "libreceiver.so")
        subprocess.run([shim_runner.find_tool("cc"), "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", cls.library], input=RECEIVER,
                       universal_newlines=True, check=True)
        if "built without NVTX" in shim_runner.run("import numpy", env={"GPUSHIM_NVTX": "1"}).stderr:
            raise unittest.SkipTest("the library was built without NVTX's header")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="shim-nvtx-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def receive(self, script=PROGRAM, **env):
        """(what processes sent, each its own; stdout)"""
        full = {"GPUSHIM_NVTX": "1", "NVTX_INJECTION64_PATH": self.library, "RECEIVED": self.folder, "GPUSHIM_FUSION": "1",
                "GPUSHIM_BACKGROUND": "0", **env}  # a group whose kernel compiles in the background may be split
        result = shim_runner.run(script, env=full)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return [Received(path) for path in sorted(glob.glob(os.path.join(self.folder, "*.txt")))], result.stdout

    def test_ranges(self):
        (received,), output = self.receive()
        self.assertEqual(output, shim_runner.run_plain(PROGRAM).stdout)
        self.assertEqual((received.domains, received.bad, received.open), (["gpushim"], 0, 0))
        self.assertIn("group", received.names)
        self.assertIn(4, received.payloads["group"])      # multiply, add, sqrt, sum
        self.assertIn(4, received.payloads["flush"])
        self.assertIn(3200000, received.payloads["transfer"])
        self.assertIn(8, received.payloads["transfer"])   # the sum
        self.assertGreaterEqual(len(received.threads), 2)

    def test_names_are_those_of_the_trace(self):
        trace = os.path.join(self.folder, "t.json")
        (received,), _output = self.receive(GPUSHIM_TRACE=trace)
        with open(trace, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        device = {event["name"] for event in events if event.get("args", {}).get("ran on") == "device"}
        self.assertGreaterEqual(len(device), 4)
        self.assertLessEqual(device | {"group", "flush", "transfer"}, set(received.names))
        self.assertEqual({name: sum(event["name"] == name for event in events) for name in ("group", "flush", "transfer")},
                         {name: received.names[name] for name in ("group", "flush", "transfer")})

    def test_off(self):
        self.assertEqual(self.receive(GPUSHIM_NVTX="0")[0], [])

    def test_without_a_profiler(self):
        self.assertEqual(self.receive(NVTX_INJECTION64_PATH=None)[0], [])
        self.assertEqual(self.receive(NVTX_INJECTION64_PATH="/nowhere/at/all.so")[0], [])

    def test_forked_children_have_none(self):
        (received,), _output = self.receive(PROGRAM + "import os, warnings\nwarnings.simplefilter('ignore')\nif os.fork() == 0:\n    c = np.hypot(a, a)\n    os._exit(0)\nos.wait()\n")
        self.assertFalse([name for name in received.names if name.startswith("hypot")])
        self.assertEqual(received.open, 0)


if __name__ == "__main__":
    unittest.main()
