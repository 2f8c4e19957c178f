# SPDX-License-Identifier: Apache-2.0
#
# The commands of the project; each does its own set-up (.ci/setup installs what is missing, and
# nothing where all is there). CMake builds: CMakePresets.json. Tests: tests/run.py.
PYTHON ?= /usr/bin/python3
export PYTHON

# Of targets that also run where nothing can be installed: an interpreter with NumPy, SciPy, pytest, hypothesis.
NUMPY_PYTHON ?= $(firstword $(wildcard .venv/bin/python) python3)
DEVICE ?= host
MODE ?= force
JOBS ?= $(shell nproc)
SECONDS ?= 60
# Builds only where build/ is not that of these sources.
BUILT = python3 tests/run.py built || { cmake --preset release && cmake --build --preset release && \
	    python3 tests/run.py stamp; }

.PHONY: build kernels wheel install demo check quick test test-all test-gpu test-faults test-numpy test-scipy test-sklearn test-pandas fuzz test-matrix docs site format clean

# .venv/bin/python and build/libgpushim.so.
build:
	.ci/setup build
	cmake --preset release
	cmake --build --preset release
	$(PYTHON) tests/run.py stamp

# build/gpushim_kernels.bin, the kernels compiled ahead, for GPUs of these compute capabilities, and of those of a later minor revision
# (80 also for 86 and 89). Takes 20 minutes of a processor; ARCHS=90 a quarter of that. Needs NVRTC.
ARCHS ?= 80 90 100 120
kernels: build
	build/pack_kernels $(addprefix --arch=,$(ARCHS)) --output=build/gpushim_kernels.bin

# The wheel for pip, in DIST: for x86-64 Linux with glibc 2.28 or later, and CPython from 3.9 on. cmake/manylinux-cc compiles it. GCC's
# runtime comes first, because Zig's has a libm of its own. Holds build/gpushim_kernels.bin where `make kernels` has made that.
DIST ?= dist
wheel:
	.ci/setup wheel
	CC=$(CURDIR)/cmake/manylinux-cc GSH_ZIG_PYTHON=$(CURDIR)/.venv-wheel/bin/python _PYTHON_HOST_PLATFORM=manylinux_2_28_x86_64 \
	    .venv-wheel/bin/python -m build --wheel --no-isolation --outdir $(DIST) \
	    -C cmake.define.CMAKE_C_STANDARD_LIBRARIES=$$(gcc -print-libgcc-file-name) \
	    -C cmake.define.GSH_KERNEL_PACK=$(CURDIR)/build/gpushim_kernels.bin .

# The libraries, their header and the licence, below PREFIX.
PREFIX ?= /usr/local
install: build
	cmake --install build --prefix $(PREFIX)

# The Table 1 program with and without the shim: on the GPU, or on the host device where there is none.
demo: build
	.venv/bin/python bench/table1.py --demo

# One test by its name, with what it prints: T=plan, T=test_fft.TestFft, T="plan*". Builds in build-dev what the test needs, and
# installs nothing.
check:
	@$(PYTHON) tests/run.py check "$(T)"

# Format, rules and the short C and Python tests: less than a minute where build-dev is there. Installs nothing.
quick:
	@$(PYTHON) tests/run.py quick

# What needs no GPU; ends with "N passed, N failed, N skipped". Of long stages it runs a shard, which the commit's hash picks
# (TURN=n: another one); test-all runs all shards. Costs: docs/dev/testing.md.
test: build
	.ci/setup test
	$(PYTHON) tests/run.py all $(if $(TURN),--turn $(TURN))

test-all: build
	.ci/setup test
	$(PYTHON) tests/run.py all --whole

# The suites on the cuda device, with the python3 of PATH and its NumPy. Installs nothing.
# SHARD=2/3 runs the second of three parts.
test-gpu:
	@$(BUILT)
	python3 tests/run.py gpu $(SHARD)

# NumPy's own test suite, or parts of SciPy's, scikit-learn's or pandas', plain and under the shim with everything sent
# to the device: every test must end alike. PARTS="core lib/test_io ..." (default: all of NumPy; PACKAGES of suite_runs.py),
# DEVICE=host|cuda, MODE=force|auto, JOBS=processes, SHARD=1/2.
test-numpy test-scipy test-sklearn test-pandas: test-%:
	@$(BUILT)
	$(NUMPY_PYTHON) tests/package_suite/package_suite.py --package $* --device $(DEVICE) --mode $(MODE) \
	    --jobs $(JOBS) --shard $(or $(SHARD),1/1) $(PARTS)

# Every call of the emulated CUDA libraries fails once, in each way, in each program of tests/faults/programs. Needs a C++
# compiler, LAPACK, BLAS and FFTW. OPTIONS="--programs fourier --kinds late --every 10" (tests/faults/run_faults.py --help).
test-faults:
	@$(BUILT)
	cmake --preset dev
	cmake --build --preset dev
	$(NUMPY_PYTHON) tests/faults/run_faults.py --jobs $(JOBS) $(OPTIONS)

# Random programs, plain and under the shim, for SECONDS; SEED=n repeats a run.
fuzz:
	@$(BUILT)
	$(NUMPY_PYTHON) tests/fuzz/fuzz.py --seconds $(SECONDS) --device $(DEVICE) $(if $(SEED),--seed $(SEED))

# The Python tests under every CPython 3.9 to 3.13 found, with old and new NumPy.
test-matrix: build
	$(PYTHON) tests/run.py matrix

# Regenerates what is generated in docs/.
docs:
	cmake --preset dev
	cmake --build --preset dev --target gpushim options_doc numerics_doc
	build-dev/tests/rules/options_doc > docs/user/options.md
	$(NUMPY_PYTHON) tests/coverage/coverage_table.py --library build-dev/libgpushim.so > build-dev/coverage.md
	mv build-dev/coverage.md docs/user/coverage.md
	build-dev/tests/rules/numerics_doc > docs/user/numerics.md

# The documents as a site, in SITE: open SITE/index.html. Reading it needs no network.
SITE ?= build-site
site:
	.ci/setup site
	.venv-docs/bin/sphinx-build -q -W --keep-going -c docs/site -d $(SITE)/.doctrees . $(SITE)

format:
	$(PYTHON) tests/run.py format --fix

clean:
	rm -rf build build-* dist
