# SPDX-License-Identifier: Apache-2.0
#
# The commands of the project; each does its own set-up (.ci/setup installs what is missing, and
# nothing where all is there). CMake builds: CMakePresets.json. Tests: tests/run.py.
PYTHON ?= /usr/bin/python3
export PYTHON

.PHONY: build demo test test-gpu test-matrix docs format clean

# .venv/bin/python and build/libgpushim.so.
build:
	.ci/setup build
	cmake --preset release
	cmake --build --preset release
	$(PYTHON) tests/run.py stamp

# The Table 1 program with and without the shim: on the GPU, or on the host device where there is none.
demo: build
	.venv/bin/python bench/table1.py --demo

# Everything that needs no GPU; ends with "N passed, N failed, N skipped".
test: build
	.ci/setup test
	$(PYTHON) tests/run.py all

# The suites on the cuda device, with the python3 of PATH and its NumPy. Installs nothing, and builds
# only where build/ is not that of these sources.
test-gpu:
	@python3 tests/run.py built || { cmake --preset release && cmake --build --preset release && \
	    python3 tests/run.py stamp; }
	python3 tests/run.py gpu

# The Python tests under every CPython 3.9 to 3.13 found, with old and new NumPy.
test-matrix: build
	$(PYTHON) tests/run.py matrix

# Regenerates what is generated in docs/.
docs:
	cmake --preset dev
	cmake --build --preset dev --target options_doc
	build-dev/tests/rules/options_doc > docs/options.md

format:
	$(PYTHON) tests/run.py format --fix

clean:
	rm -rf build build-*
