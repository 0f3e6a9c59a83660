# Everything a newcomer or CI runs. `make demo` and `make test` do all the set-up themselves.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
OTHERS := $(filter-out attention,$(notdir $(wildcard assignments/*)))

.PHONY: demo test lint types check verify prove prove-diagnosis attacks-plain bench load clean

demo: $(READY)  ## grade the example submissions
	@$(BIN)/grade submissions_example/attention -o report/ --force --isolation best
	@echo
	@echo "Open report/index.html in a browser; what a student gets is in report/students/."

test: $(READY)  ## the whole test suite, file by file, side by side; the long files come first by name
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check: lint types test  ## what CI runs

prove: $(READY)  ## every known mistake loses points, right code does not, over 50 seeds (about a quarter of an hour)
	$(BIN)/python tests/prove_checks.py --catalogue --seeds 50

verify: $(READY)  ## each assignment holds what it promises: checks, reference, every known mistake (minutes)
	$(BIN)/grade verify

prove-diagnosis: $(READY)  ## mistakes get their name and no other: sets of three, unknown ones, other styles (minutes)
	$(BIN)/python tests/prove_diagnosis.py --styled --triples 40 --left-out 40

attacks-plain: $(READY)  ## how many attacks succeed against an ordinary pytest file, and here (as root)
	cd tests && ../$(BIN)/python -m attacks.against_plain_pytest

bench: $(READY)  ## what grading costs, beside plain pytest
	$(BIN)/python benchmarks/speed.py
	for name in $(OTHERS); do $(BIN)/python benchmarks/speed.py --assignment $$name --cost --rounds 3 || exit 1; done
	$(BIN)/python benchmarks/check.py

load: $(READY)  ## a thousand submissions, three in ten of them hostile (some minutes)
	$(BIN)/python benchmarks/load.py

clean:
	rm -rf .venv report lab build *.egg-info .hypothesis .pytest_cache .mypy_cache .ruff_cache

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else \
	  "Python %d.%d was found; 3.11 or newer is wanted. Name one with: make PYTHON=python3.11 ..." % v[:2])'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  $(PYTHON) -c 'import sys; print("This Python has no venv or ensurepip. Install them with the system package\n" \
	    "python%d.%d-venv (Debian, Ubuntu: apt-get install python%d.%d-venv), then run make again." \
	    % (sys.version_info[:2] * 2))' >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)
