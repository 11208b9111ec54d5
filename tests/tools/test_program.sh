#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_program.py under the Python that has NumPy (IFR_PYTHON), chosen when the test runs.
exec "${IFR_PYTHON:-python3}" "$(dirname "$0")/test_program.py" "$@"
