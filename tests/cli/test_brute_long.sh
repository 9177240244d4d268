#!/bin/bash
# The solvers against enumeration, on many programs (tests/unit/test_brute.c).
# labels: long
# timeout: 7200
#
# Environment: INQUEST_BUILD (the build directory).
exec "${INQUEST_BUILD:?}/tests/test_brute" 24000
