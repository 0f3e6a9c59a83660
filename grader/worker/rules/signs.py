"""What is a sign in the text of a submission: names that are forbidden, and names that are ways around them."""

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase, translate

FORBIDDEN, FALLBACK, COMPUTED = "forbidden_use", "forbidden_fallback", "computed_name"
SIMILAR = "like_forbidden"
HIDDEN, DYNAMIC, INTERNALS = "hidden_name", "dynamic_code", "internals"
NATIVE, BLOB, CHARACTERS = "native_code", "blob", "odd_characters"

#: Dotted names, by what using anything of them is a sign of.
MODULES = {
    "importlib": DYNAMIC,
    "runpy": DYNAMIC,
    "pkgutil.resolve_name": DYNAMIC,
    "builtins": DYNAMIC,
    "operator.attrgetter": COMPUTED,
    "operator.methodcaller": COMPUTED,
    "ctypes": NATIVE,
    "cffi": NATIVE,
    "_ctypes": NATIVE,
    "torch.utils.cpp_extension": NATIVE,
    "base64": BLOB,
    "binascii": BLOB,
    "marshal": BLOB,
    "zlib": BLOB,
    "lzma": BLOB,
    "bz2": BLOB,
    "gzip": BLOB,
    "codecs": BLOB,
    "pickle": BLOB,
    "gc": INTERNALS,
    "sys._getframe": INTERNALS,
    "sys.modules": INTERNALS,
    "sys.meta_path": INTERNALS,
    "sys.settrace": INTERNALS,
    "sys.setprofile": INTERNALS,
    "inspect.stack": INTERNALS,
    "inspect.currentframe": INTERNALS,
    "torch.ops": INTERNALS,
    "torch.jit": INTERNALS,
    "torch.library": INTERNALS,
    "torch.overrides": INTERNALS,
    "torch.utils._python_dispatch": INTERNALS,
}
BUILTINS = {
    "eval": DYNAMIC,
    "exec": DYNAMIC,
    "compile": DYNAMIC,
    "__import__": DYNAMIC,
    "globals": COMPUTED,
    "vars": COMPUTED,
}
ATTRIBUTES = {
    "__dict__": COMPUTED,
    "__getattribute__": COMPUTED,
    "__globals__": INTERNALS,
    "__builtins__": INTERNALS,
    "__closure__": INTERNALS,
    "__code__": INTERNALS,
    "__subclasses__": INTERNALS,
    "f_back": INTERNALS,
    "f_globals": INTERNALS,
    "tb_frame": INTERNALS,
    "DisableTorchFunction": INTERNALS,
    "DisableTorchFunctionSubclass": INTERNALS,
}


#: Parts of a dotted name that are looked at; torch's longest have six.
_LONGEST = 12


class ForbiddenNames:
    """What is forbidden, asked by dotted name."""

    def __init__(self, forbidden: Iterable[str], flagged: Iterable[str], asked: Collection[str]) -> None:
        """`flagged`: globs; `asked`: names that students are to write, which are no sign in themselves."""
        self._flagged = re.compile("|".join(map(translate, flagged)) or r"(?!)", re.IGNORECASE)
        self._patterns = [name.rpartition(".")[::2] for name in forbidden]
        self._roots = {module.partition(".")[0] for module, _ in self._patterns}
        #: Last parts that name one thing, wherever torch keeps it.
        self.words = frozenset(last for module, last in self._patterns if not set("*?") & set(last))
        self.telling = self.words - frozenset(asked)
        self._known: dict[str, str] = {}

    def match(self, dotted: str) -> str:
        """The forbidden name that a dotted name is, or leads to; empty when it is none."""
        if dotted not in self._known:
            self._known[dotted] = self._match(dotted.split("."))
        return self._known[dotted]

    def is_flagged(self, dotted: str) -> bool:
        """Whether a dotted name is one that a person should look at."""
        return self._flagged.match(dotted) is not None

    def _match(self, parts: list[str]) -> str:
        if parts[0] not in self._roots:
            return ""
        for length in range(2, min(len(parts), _LONGEST) + 1):
            module, last = ".".join(parts[: length - 1]), parts[length - 1]
            if last in self.words or any(module == one and fnmatchcase(last, glob) for one, glob in self._patterns):
                return f"{module}.{last}"
        return ""
