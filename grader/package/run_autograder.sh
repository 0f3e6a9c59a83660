#!/usr/bin/env bash
# Run by Gradescope, as root, for each submission. Ends with 0 only when results.json was written.
# GRADER_ROOT and GRADER_PYTHON are there to try it elsewhere.
set -euo pipefail
exec 2>&1 # Gradescope keeps one log, which is shown to staff only
exec "${GRADER_PYTHON:-/opt/attention-grader/bin/python}" -P -m grader.package.autograder "${GRADER_ROOT:-/autograder}"
