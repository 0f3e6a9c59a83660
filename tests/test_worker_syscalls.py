"""Numbers of system calls, against the kernel's own headers where they are installed, and against this machine."""

import platform
import re
from pathlib import Path

import pytest

from grader.worker.sandbox.syscalls import ARCHITECTURES, here

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
#: The generic header names some calls after what the 32-bit ones lack.
GENERIC_NAMES = {"fstatat": "newfstatat"}


def numbers_in(header):
    """Numbers by name, as a header defines them."""
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)$", header.read_text(), re.MULTILINE)
    return {GENERIC_NAMES.get(name, name): int(number) for name, number in found}


@pytest.mark.parametrize("name", HEADERS)
def test_syscalls_numbers_are_those_of_the_kernels_headers(name):
    """A wrong number would allow another call than the one that is named."""
    if not HEADERS[name].exists():
        pytest.skip(f"{HEADERS[name]} is not installed")
    known = numbers_in(HEADERS[name])

    assert {one: known.get(one) for one in ARCHITECTURES[name].numbers} == ARCHITECTURES[name].numbers


def test_syscalls_of_this_machine_are_known():
    """The tests below this one need them."""
    assert ARCHITECTURES[platform.machine()] is here()


def test_syscalls_of_another_machine_are_not_guessed(monkeypatch):
    """A processor that is not in the table has no numbers at all."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")

    assert here() is None
