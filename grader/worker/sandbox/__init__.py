"""All that keeps a worker in. Linux only; elsewhere each layer says that it is missing.

layers      what a worker puts on, in order
namespaces  around the zygote: processes, files, network of its own
privileges  the user, capabilities, being inspected
limits      processor time, memory, files, threads; the end with the parent
landlock    what may be read
seccomp     which system calls may be made
readable    what torch and Python must be able to read
probe       what a worker can do all the same, found by trying
kernel, syscalls   what these need of the kernel
"""
