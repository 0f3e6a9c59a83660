"""All that keeps a worker in, layer by layer: made ready once, in the zygote, and put on after each fork.

In this order, since each takes away what the one before needs: the user, the count of threads, capabilities and being
inspected (`privileges`), the end with the parent (`limits`), Landlock, the filter of system calls. A layer that the
system does not have is left out; what that means is found by trying (`probe`), never concluded from here.
"""

import contextlib
import os
from collections.abc import Collection, Sequence

from . import limits, privileges
from .kernel import IS_LINUX, succeeds_in_child
from .landlock import Ruleset
from .seccomp import READING_ONLY, RULES, Filter
from .syscalls import here

#: The layers a worker puts on, by name.
LAYERS = ("identity", "landlock", "seccomp")
#: Threads of a worker: homework that has some has a handful, and each takes a process number of the machine's.
_THREADS_ALONE = 128
#: Where they cannot be counted by themselves: processes and threads of the whole user, a bomb's among them.
_THREADS_TOGETHER = 4096


class Sandbox:
    """What workers of this process put on."""

    def __init__(self, readable: Sequence[str], user: int | None, parent: int | None = None) -> None:
        """`readable`: files and folders that a worker may read, with all below them.

        `user`: whom a worker of root becomes, where it can work as that one; None: it stays who it is.
        `parent`: the process a worker must end with; this one when left out.
        """
        #: By layer: what it is here, or why it is missing, in a few words.
        self.described: dict[str, str] = {}
        self._parent = os.getpid() if parent is None else parent
        self._user: int | None = None
        self._ruleset: Ruleset | None = None
        #: With Landlock a file may be opened for writing where it says so; without, none may.
        self._filters: dict[bool, Filter] = {}
        if not IS_LINUX:
            self.described = dict.fromkeys(LAYERS, "this system has none; Linux has")
            return
        self._choose_user(user, readable)
        self._make_ruleset(readable)
        self._make_filter()
        self._leave_out_what_fails()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Must stay open in a worker until it puts the sandbox on."""
        return (self._ruleset.descriptor,) if self._ruleset else ()

    def enter(self, layers: Collection[str] = LAYERS) -> None:
        """Put these layers on, for good. The process must have one thread.

        Raises:
            OSError: a layer that was there when this was made is refused now.
        """
        if not IS_LINUX:
            return
        if "identity" in layers:
            if self._user is not None:
                privileges.become(self._user)  # it takes the signal below away, and being inspected
            self._count_threads()
            privileges.renounce()
            privileges.hide_memory()
            limits.end_with_parent()
            if os.getppid() != self._parent:
                os._exit(1)
        elif "landlock" in layers or "seccomp" in layers:
            privileges.gain_no_rights()
        has_ruleset = self._ruleset is not None and "landlock" in layers
        if self._ruleset and has_ruleset:
            self._ruleset.restrict_this_process()
        if self._filters and "seccomp" in layers:
            self._filters[has_ruleset].load(os.getpid())

    def _count_threads(self) -> None:
        most = _THREADS_TOGETHER
        with contextlib.suppress(OSError):  # not possible here, or others have used up the machine's namespaces
            privileges.be_alone()
            most = _THREADS_ALONE
        limits.limit_threads(most)

    def _choose_user(self, user: int | None, readable: Sequence[str]) -> None:
        if user is None:
            self.described["identity"] = f"user {os.geteuid()}, without capabilities"
            return
        reason = privileges.why_not(user, readable)
        self._user = None if reason else user
        self.described["identity"] = (
            f"root, without capabilities: it cannot work as user {user}, since {reason}"
            if reason
            else f"user {user}, which nobody is, without capabilities"
        )

    def _make_ruleset(self, readable: Sequence[str]) -> None:
        architecture = here()
        try:
            if architecture is None:
                raise OSError("not known for this processor")
            self._ruleset = Ruleset(architecture, readable)
            self.described["landlock"] = f"version {self._ruleset.version} of the interface"
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else error
            self.described["landlock"] = f"missing ({reason}); Linux 5.13 and newer have it"

    def _make_filter(self) -> None:
        architecture = here()
        if architecture is None:
            self.described["seccomp"] = "missing: the numbers of system calls are not known for this processor"
            return
        self._filters = {True: Filter(architecture, RULES), False: Filter(architecture, RULES | READING_ONLY)}
        self.described["seccomp"] = f"a filter of {len(self._filters[True])} instructions"

    def _leave_out_what_fails(self) -> None:
        """A container may refuse a layer that the kernel has."""
        if not self._can_enter("landlock"):
            self._ruleset = None
            self.described["landlock"] = "missing: it may not be used here"
        if not self._can_enter("seccomp"):
            self._filters = {}
            self.described["seccomp"] = "missing: the kernel refuses filters"

    def _can_enter(self, layer: str) -> bool:
        return succeeds_in_child(lambda: self.enter([layer]))
