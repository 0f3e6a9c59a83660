"""The untrusted program: a torch process that runs one student's code and answers questions about it.

Nothing in this package knows an expected value, a check or a score, and nothing here imports the rest of `grader`:
only the standard library, torch and safetensors. The trusted side imports `wire` (one definition of the frames)
and, for its own reference code, `answer`.

    boot    how the interpreter starts, with a path of listed folders only
    zygote  the warm process that forks workers on request
    warm    what a process loads and uses once before it is asked anything
    pages   large pages, so that forking is cheap
    serve   the life of one worker: requests in, replies out
    load    a submission's files become modules, from memory
    answer  one call: build, forward, backward
    batch   several calls in one frame
    describe a returned object becomes a description and plain tensors
    unpack  an archive's bytes become its entries, in a process of its own without torch
    unpack_class, class_frames  the same for the zip of a class, which may be large, and how that is sent
    notebook/ a notebook's bytes become the text of stub files, in a process of its own without torch
    apart   how these begin and answer
    sandbox/ all that keeps a worker in, layer by layer
    rules/  what an assignment forbids: guards where it is called, a scan of the text, imports
    wire    frames: a small JSON header and safetensors
"""
