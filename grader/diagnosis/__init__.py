"""Naming what a student did, from what the code answered.

mistakes    the known mistakes: one-place edits of the course's reference, read and checked
edited      the reference with some of them made
predict     what it then answers to the questions of a run
agree       whether a student's answer is that answer, and how much that proves
search      the smallest sets of mistakes that explain everything a callable answered
traits      what is recognised without an edit
diagnose    all of it for one submission
"""
