"""What students are given: stubs, visible checks, and a record of answers in the place of the reference.

header    which assignment it is about, how much it may tell, and where it lies
contents  what a record holds, as JSON and tensors; written and read
tensors   tensors by name, each kept once; numbers rounded
calls     a call, as it is recorded
tries     the staff's side: each known mistake, made and asked
known     what is written down of them
record    what is written down of all, from a grading that has rehearsed
recorded  the student's side: an answer key that looks them up
pack      the archive: stubs, handout, checks, record, and this program as a wheel
"""
