#!/bin/bash
# test_suspects_store.sh with many seeds and many rounds of killing.
#
# labels: long
# timeout: 3600
exec "${INQUEST_SRC:?the repository}/tests/cli/test_suspects_store.sh" 25 25
