#!/bin/bash
# The path solver against enumeration, on many programs (tests/unit/test_path.c, test_path_dataflow.c).
# labels: long
# timeout: 7200
#
# Environment: INQUEST_BUILD (the build directory).
"${INQUEST_BUILD:?}/tests/test_path" 20000 &&
	exec "$INQUEST_BUILD/tests/test_path_dataflow" 1500
