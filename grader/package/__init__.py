"""An assignment packed for a platform that grades by itself, and the program that grades there.

pins         what is installed here, in the versions that are installed
gradescope   the zip for Gradescope: two scripts, a wheel of this package, the course's share of the assignment
autograder   what runs there for each submission
"""
