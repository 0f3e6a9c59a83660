"""The words of the command line, one module each. `cli` finds them by name and loads the one that was typed.

A module here holds one `click` command called `command`: options, and how the outcome becomes words and an exit code.
What it does is elsewhere, and is imported when the command runs, so that `grade --help` costs no seconds. `options` and
`delivery` hold what several commands share.
"""
