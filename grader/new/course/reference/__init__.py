"""The right answers, for staff only. Assignments compare a student's answers with what these modules compute.

Nothing here is published with an assignment, and nothing here runs in the process that runs a student's code.
"""
