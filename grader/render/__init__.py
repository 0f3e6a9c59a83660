"""Reports for people, each a pure function from records to text; the caller writes the files.

html        index.html for staff; per submission a page for staff and one for the student
table       grades.csv
markdown    summary.md, for the summary of a CI job
overview    what a class's reports need of each submission, gathered in one pass
causes      failed checks, grouped by what has to be fixed
"""
