"""Attacks on the grader as data, and what proves that each fails.

    *.toml     the attacks, a file a kind, and the honest neighbours they are graded among
    corpus     reads them and writes submissions
    folders    submissions that no text can describe: links, pipes, archives, strange names
    canaries   what an attack could reach: secrets, sockets, processes, files
    readers    what could hurt whoever opens a report
    scene      one run of `grade` over all of them, and what each attack achieved

An attack does the least that proves it could have done more: a signal that is ignored, one file, one packet to this
machine. See README.md here for how to write one.
"""
