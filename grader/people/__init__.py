"""Who is who: how people are called, and what certain means where somebody is looked for.

`roster` finds the people of submissions, `export` the rows of a gradebook, `post` the students of a course, `overrides`
the submissions that staff name. What they share is here; what each does where nothing is certain is its own.
"""
