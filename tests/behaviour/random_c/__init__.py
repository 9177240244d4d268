# SPDX-License-Identifier: Apache-2.0
"""Random programs of C (program.py)."""
