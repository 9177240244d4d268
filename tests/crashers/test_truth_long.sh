#!/bin/bash
# The whole campaign, tests/truth/long.
# labels: long
# timeout: 43200
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
exec "${INQUEST_SRC:?}/tests/truth/long"
