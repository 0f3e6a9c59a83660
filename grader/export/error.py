"""What an export cannot do, said to the person who asked for it."""


class ExportError(Exception):
    """Nothing is written; the text says where, what was found, what was wanted, and what to do."""
