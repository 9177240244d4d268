#!/bin/bash
# 2,000 stray writes, tests/stray/campaign.
# labels: long
# timeout: 7200
#
# Environment: INQUEST_BUILD (the build directory), INQUEST_SRC (the source directory).
exec "${INQUEST_SRC:?}/tests/stray/campaign" --build "${INQUEST_BUILD:?}" --count 2000
