"""Layouts: the forms in which platforms hand out what a class handed in, recognised by names and told in words.

Each layout has a module that recognises its names and groups them into submissions. The names in a download are chosen
by students, where the platform did not change them; the files are opened by `grader.intake` alone, except for what
the platform itself wrote (`gradescope`) and a clone's last commit (`last_commit`).

    layout       what is known of a class once its layout is recognised
    recognise    tries one layout after the other; the way in
    listing      names at the top of a folder, or of the zip of a class
    canvas, moodle, gradescope, clones, plain    one layout each
    class_zip    the zip of a class, unpacked into a folder for as long as it is graded
"""
