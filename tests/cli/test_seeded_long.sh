#!/bin/bash
# The same for all 2,000 inputs, with failure rates between 2% and 50% at both levels.
# labels: long
# timeout: 7200
here=$(dirname "${BASH_SOURCE[0]}")
SEEDED_RUNS=2000 exec "$here/test_seeded.sh"
