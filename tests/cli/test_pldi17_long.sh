#!/bin/bash
# The same where it must be there.
# labels: long
here=$(dirname "${BASH_SOURCE[0]}")
PLDI17_REQUIRED=1 exec "$here/test_pldi17.sh"
