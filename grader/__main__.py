"""The program `grade`, which is `python -m grader` too.

Little is imported before signals are listened for: who presses Ctrl-C in the first moment is answered as later on.
"""

import os
import sys

from grader import interrupt


def start() -> None:
    """Run the command line. A signal that came decides the exit code, whatever library caught its exception."""
    try:
        interrupt.listen()
        from grader.cli import main

        main(prog_name="grade")
    except (KeyboardInterrupt, SystemExit):
        if not interrupt.has_come():
            raise
        sys.exit(interrupt.exit_code())


def _leave_current_folder_out() -> None:
    """`python -m` puts the current folder on the path, which may be that of submissions."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [folder for folder in sys.path if folder == home or os.path.abspath(folder) != os.getcwd()]


if __name__ == "__main__":
    _leave_current_folder_out()
    start()
