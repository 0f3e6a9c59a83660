"""What a student is told of their work wherever the page does not fit: comments, checks, job summaries, files.

Everything here is made from a `StudentView` and nothing else: `paragraphs` for plain text and the plainest HTML,
`markdown` for GitHub. Both tell the same things to fix, those of `render.causes`.
"""
