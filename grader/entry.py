"""`pytest assignments/NAME/checks --submission FOLDER`: the checks as ordinary tests, to be debugged like any.

Pytest loads this module in every session where grader is installed, so it imports nothing until the option is used.
"""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; without `--submission` nothing else happens."""
    group = parser.getgroup("grader", "attention grader")
    group.addoption("--submission", metavar="FOLDER", help="put the checks to the code in FOLDER")
    group.addoption(
        "--grader-seed",
        type=int,
        default=None,
        help="seed of the inputs (default: the assignment's published one)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start a worker for the submission and register the checks' plugin."""
    config.addinivalue_line("markers", "check(callable, points, requires, hint, title): a graded question")
    folder = config.getoption("--submission")
    if not folder:
        return
    from grader.standalone import register

    register(config, folder, config.getoption("--grader-seed"))
