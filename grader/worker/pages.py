"""Large pages for what a warm process holds, so that forking it is cheap.

A fork copies the page table, an entry for every 4 KiB in use, and the end of the child takes it down again: more than
half of what an idle worker costs, with all that torch keeps. In pages of 2 MiB there is next to nothing to copy; the
kernel splits a page when a child first writes to it.

Source: madvise(2), MADV_HUGEPAGE and MADV_COLLAPSE (Linux 6.1). Where the kernel knows neither, nothing happens.
"""

import ctypes
import re
import sys
from collections.abc import Iterator

_HUGEPAGE, _COLLAPSE = 14, 25  # asm-generic/mman-common.h
_LARGE = 2 * 1024 * 1024
#: A private, writable mapping of no file in /proc/self/maps (proc(5)): the heap, or memory that was asked for.
_ANONYMOUS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p 00000000 00:00 0 *(?:\[heap\])?$", re.MULTILINE)


def use_large_pages() -> None:
    """Have the kernel put this process's memory into large pages, now."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    for start, length in _mappings():
        for advice in (_HUGEPAGE, _COLLAPSE):
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), advice)


def _mappings() -> Iterator[tuple[int, int]]:
    with open("/proc/self/maps") as maps:
        text = maps.read()
    for match in _ANONYMOUS.finditer(text):
        start, end = int(match[1], 16), int(match[2], 16)
        if end - start >= _LARGE:
            yield start, end - start
