"""Start of an untrusted interpreter: `python -S -s -P boot.py JSON`.

`-S` keeps `site` out, so no `.pth` file or editable install puts a course's folder, and with it the reference,
on the path: the folders listed in the argument are all there is. This package is then loaded under a name of its
own, from its own folder, without the rest of `grader` becoming importable. Namespaces are entered here, before torch
is imported: a process must have one thread for that.
"""

import importlib
import importlib.util
import json
import os
import sys

NAME = "grader_worker"


def main() -> None:
    """Set the path, load the package, hand over to the module named in the argument."""
    arguments = json.loads(sys.argv[1])
    sys.argv = ["worker"]
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    importlib.import_module(f"{NAME}.sandbox.limits").die_with_parent(arguments["parent"])
    readable = importlib.import_module(f"{NAME}.sandbox.readable")
    arguments["readable"] = readable.readable(arguments["path"], arguments["packages"])
    arguments["user"] = importlib.import_module(f"{NAME}.sandbox.privileges").unused_user()
    if arguments.get("in_namespaces"):
        namespaces = importlib.import_module(f"{NAME}.sandbox.namespaces")
        arguments["namespaces"] = namespaces.enter(arguments["readable"])
    sys.path.extend(arguments["path"])
    importlib.import_module(f"{NAME}.{arguments['module']}").main(arguments)


if __name__ == "__main__":
    main()
