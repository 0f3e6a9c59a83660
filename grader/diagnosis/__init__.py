"""Naming what a student did, from what the code answered.

mistakes     the known mistakes: one-place edits of the course's reference, read and checked
edited       the reference with some of them made
said         an answer, reduced to what is compared
predict      what edited references answer to the questions of a run, and whether an answer is that one
search       the smallest sets of mistakes that explain everything a callable answered
confirm      whether two calls fail of the same operation
traits       what is recognised without an edit
explain      mistakes and traits that together account for a callable's answers
recognise    what answers state by themselves, and what can be said where nothing accounts for them
by_size      for which sizes a callable is right
explanation  what explains one callable
diagnose     all of it for one submission
illustrate   an example, the shapes on the way, the line at fault
findings     what a report says of it
"""
