"""Proving an assignment: that its checks, its reference and its mistakes hold what the course promises its students.

forked      many small jobs, shared out among forks of a warm process
trials      edited references graded as if a student had handed them in
claims      what an assignment must hold, each claim tried
verify      all claims of one assignment
"""
