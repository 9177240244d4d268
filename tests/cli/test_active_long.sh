#!/bin/bash
# Active nodes and edges against enumeration, on many programs (tests/unit/test_active.c).
# labels: long
# timeout: 3600
#
# Environment: INQUEST_BUILD (the build directory).
exec "${INQUEST_BUILD:?}/tests/test_active" 200000
