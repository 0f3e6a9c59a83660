"""A notebook's bytes become the text of stub files, in a process of its own that ends afterwards. Nothing of it is run.

    program     what comes in, what goes out
    cells       JSON becomes cells of code, whichever version of the format
    magics      what Jupyter understands and Python does not is emptied out of a cell
    statements  a cell becomes statements: what each binds, changes and uses
    choose      which statements a stub file needs
    cut         their text, line by line as it stood in the cells

`grader.intake.notebook` checks the answer, and knows what the words used here mean to a student.
"""
