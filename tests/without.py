"""Run a command on a machine that lacks something: `python without.py LAYER,LAYER COMMAND...`.

Real, and inherited by all it starts: a filter answers the system calls of those layers as a kernel that does not have
them, or a container that does not allow them.
"""

import ctypes
import errno
import os
import struct
import sys

from grader.worker.sandbox.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl
from grader.worker.sandbox.syscalls import here

_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO, _FILTER = 0x7FFF0000, 0x00050000, 2


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def refusals(layer):
    """The instructions that refuse what a layer needs; the number of the call is loaded."""
    architecture = here()
    if layer == "namespaces":
        return refuse(architecture.numbers["unshare"], errno.EPERM)
    if layer == "landlock":
        return refuse(architecture.numbers["landlock_create_ruleset"], errno.ENOSYS)
    return [
        (_JUMP_EQUAL, 0, 4, architecture.numbers["prctl"]),
        (_LOAD, 0, 0, 16),  # its first argument
        (_JUMP_EQUAL, 0, 1, PR_SET_SECCOMP),
        (_RETURN, 0, 0, _ERRNO | errno.EINVAL),
        (_LOAD, 0, 0, 0),
    ]


def refuse(number, error):
    """Fail one call."""
    return [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]


def main(layers, command):
    """Take the layers away, become the command."""
    code = [(_LOAD, 0, 0, 0), *(one for layer in layers for one in refusals(layer)), (_RETURN, 0, 0, _ALLOW)]
    data = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, _FILTER, ctypes.byref(Program(len(code), data)))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main([layer for layer in sys.argv[1].split(",") if layer], sys.argv[2:])
