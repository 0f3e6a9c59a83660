#!/usr/bin/env bash
# Run by Gradescope, as root, when the autograder is built: Python, the packages, the grader. Any failure ends the build.
# GRADER_ROOT, GRADER_HOME, BASE_PYTHON and TORCH_INDEX are there for whoever builds an image of their own.
set -euo pipefail

root="${GRADER_ROOT:-/autograder}"
home="${GRADER_HOME:-/opt/attention-grader}"
torch_index="${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}"
source_folder="$root/source"

say() { printf 'setup.sh: %s\n' "$*" >&2; }

fail() {
    say "$*"
    say "The autograder was not built."
    exit 1
}

# A network that fails for a moment costs no build.
retry() {
    local attempt
    for attempt in 1 2 3 4; do
        if "$@"; then return 0; fi
        say "attempt $attempt of 4 failed: $*"
        if ((attempt < 4)); then sleep "$((attempt * attempt * ${GRADER_WAIT_S:-5}))"; fi
    done
    fail "given up: $*"
}

# Python 3.11 or newer, no preview of it (Ubuntu 22.04 has one of 3.11), able to make environments.
is_usable() {
    command -v "$1" >/dev/null && "$1" -c '
import ensurepip, sys, venv
sys.exit(sys.version_info < (3, 11) or sys.version_info.releaselevel != "final")' 2>/dev/null
}

find_python() {
    local name
    for name in ${BASE_PYTHON:-} python3.13 python3.12 python3.11 python3; do
        if is_usable "$name"; then
            printf '%s\n' "$name"
            return 0
        fi
    done
    return 1
}

install_python() {
    export DEBIAN_FRONTEND=noninteractive
    command -v apt-get >/dev/null || fail "no Python of 3.11 or newer, and no apt-get to install one"
    retry apt-get update
    retry apt-get install -y python3 python3-venv
    if find_python >/dev/null; then return 0; fi
    say "this image's Python is older than 3.11; taking 3.12 from the deadsnakes archive"
    retry apt-get install -y software-properties-common
    retry add-apt-repository -y ppa:deadsnakes/ppa
    retry apt-get install -y python3.12 python3.12-venv
}

find_python >/dev/null || install_python
python="$(find_python)" || fail "no Python of 3.11 or newer that can make environments; choose a newer base image"
say "using $("$python" --version)"

"$python" -m venv --clear "$home" || fail "$home could not be made"
pip=("$home/bin/python" -m pip --disable-pip-version-check install --no-cache-dir --constraint "$source_folder/constraints.txt")
torch="$(grep '^torch==' "$source_folder/constraints.txt")" || fail "constraints.txt pins no torch"
# The build for processors is a tenth of the size of the one that the usual index has.
retry "${pip[@]}" --no-deps --index-url "$torch_index" "$torch"
retry "${pip[@]}" --requirement "$source_folder/requirements.txt" "$source_folder"/*.whl
"$home/bin/python" -m pip check || fail "the installed packages do not fit together"

# Whatever the student's code can do, these are root's alone.
chmod -R go= "$source_folder"

"$home/bin/python" -P -m grader --version || fail "the grader does not start"
"$home/bin/python" -P -m grader doctor || say "isolation is less than strong here; each submission's log says what it had"
say "done"
