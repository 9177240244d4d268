#!/bin/bash
# The control-flow graphs and failure reports of paper 000's subjects, which stand beside the tree
# and are not part of it: every node, edge, call, frame and observation, against a second reader.
set -u -o pipefail

cases=$INQUEST_SRC/../shared/pldi17
if [ ! -d "$cases" ]; then
    echo "no '$cases': skipped"
    exit 77
fi
"$INQUEST_SRC/tests/cli/graphml_cases.py" "$INQUEST_BUILD/bin/inquest" "$cases"
