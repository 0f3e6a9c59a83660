"""`grade check`: a student's own look at their work, before it is handed in. Visible checks, the published seed.

affected  which parts a change of files can change
desk      one folder, checked again and again; what a change cannot have changed is kept
session   a desk made ready: from a handout's record, or from the course
words     what a student reads of it, in the terminal
watch     checks whenever something was saved
"""
