"""From a report to the files that the tools around a course read; each a pure function of records and a template.

canvas      the course's own gradebook export, one column filled
moodle      the assignment's own grading worksheet, grades and comments filled
gradescope  results.json of one submission
junit       JUnit XML, a suite for each submission
markdown    a summary of the class, or what one student may see
table       a plain CSV of everything that has points

template    a CSV as somebody exported it: cells with their places, so that everything else stays to the byte
persons     whose row is whose
filling     what becomes of each row, and what is said about it
amounts     points as such files write them
feedback    what a student may see, as paragraphs

`score` is what the code earned, `final_score` is what counts: gradebooks get `final_score`.
"""
