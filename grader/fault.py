"""What keeps a command from going on and lies outside of the grader: a wrong word, a damaged file, a full disk.

Every module's own errors of this kind derive from `Fault`; `commands.ending` makes any of them a line and an exit code.
An error that is none is the grader's own, and is shown whole, as a traceback.
"""


class Fault(Exception):
    """Somebody can put it right: the text says where, what was found, what was wanted, and what to do."""

    #: What the command ends with.
    exit_code = 2
