#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the package into PREFIX with the interpreter PYTHON, as conda's builders call it. GSH_KERNEL_PACK: a file of kernels compiled
# ahead, which goes into it.
set -euo pipefail
cd "${SRC_DIR:?}"
"${PYTHON:?}" -m pip install . --prefix "${PREFIX:?}" --no-deps --no-build-isolation --no-index --ignore-installed --no-cache-dir \
    --disable-pip-version-check --config-settings=cmake.define.GSH_KERNEL_PACK="${GSH_KERNEL_PACK:-none}"
