#!/bin/bash
# Queries against enumeration, on many programs (tests/unit/test_ask.c).
# labels: long
# timeout: 7200
#
# Environment: INQUEST_BUILD (the build directory).
exec "${INQUEST_BUILD:?}/tests/test_ask" 20000
