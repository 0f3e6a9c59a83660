"""A new assignment to begin with: small, complete, and right as it stands, so that `grade verify` accepts it.

course    the assignment itself, called `exercise`, in a course of its own: files that read like what they become
name      which names an assignment may have
template  the files of a new assignment, from those of `exercise`
place     putting files into a course: all of them or none, and nothing overwritten
"""
