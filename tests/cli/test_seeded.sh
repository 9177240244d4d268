#!/bin/bash
# The seeded programs fail as they are said to, their repaired variants never, and every failing run is
# known by its bug: 60 inputs each (docs/seeded-bugs.md).
# timeout: 900
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec nice "$here/../seeded/check" --runs "${SEEDED_RUNS:-60}"
