"""From report.json to other people's servers: a pull request and a check on GitHub, grades and comments on Canvas.

The only part of the product that uses the network, and only when `grade post` is typed. What students read is made
from `student_view`; what a student chose passes through `grader.show` on its way out and on its way into any log.

    target, reading     which report and submission; which repository, pull request and commit
    markdown, plain, annotations    the words, from a student's view
    http, waiting       one client: retries, waits, redirects, what is never sent elsewhere
    comment, check_run, summary, github     what stands on GitHub, brought to what it should be
    roster, gradebook, canvas     the same for Canvas

Everything is idempotent: each step reads what is there and sends the difference, so that a run that was interrupted,
or whose answer got lost, is simply run again.
"""
