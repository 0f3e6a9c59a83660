"""What an export cannot do, said to the person who asked for it."""

from grader.fault import Fault


class ExportError(Fault):
    """Nothing is written; the text says where, what was found, what was wanted, and what to do."""
