"""`python -m grader` is `grade`: without the current folder on the path, which may be that of submissions."""

import os
import sys

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [folder for folder in sys.path if folder == _HOME or os.path.abspath(folder) != os.getcwd()]

from grader.cli import main  # noqa: E402 - only now is nothing imported from the current folder

main(prog_name="grade")
