"""The program `grade`, which is `python -m grader` too.

Little is imported before signals are listened for: who presses Ctrl-C in the first moment is answered as later on.
"""

import errno
import io
import os
import sys

from grader import interrupt

#: What a disk or a device behind standard output says, which is no fault of a file of ours.
_OUTPUT_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_USAGE = 2


def start() -> None:
    """Run the command line. A signal that came decides the exit code, whatever library caught its exception."""
    ready_streams()
    try:
        interrupt.listen()
        from grader.cli import main

        main(prog_name="grade")
    except (KeyboardInterrupt, SystemExit):
        if not interrupt.has_come():
            raise
        interrupt.leave()
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_FAULTS:
            raise
        print(f"grade: standard output: {error.strerror}", file=sys.stderr)
        sys.exit(_USAGE)


def ready_streams() -> None:
    """Have all three, so that no file that is opened takes the place of one; and print any letter on any terminal."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:  # whoever started this closed it
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != descriptor:
                os.dup2(nothing, descriptor)
                os.close(nothing)
            stream = open(descriptor, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 (for all of the program)
            setattr(sys, name, stream)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _leave_current_folder_out() -> None:
    """`python -m` puts the current folder on the path, which may be that of submissions."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [folder for folder in sys.path if folder == home or os.path.abspath(folder) != os.getcwd()]


if __name__ == "__main__":
    _leave_current_folder_out()
    start()
