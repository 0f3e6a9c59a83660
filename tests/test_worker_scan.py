"""What the text of a submission says: forbidden uses and ways around them are signs; honest code has none."""

import base64
from pathlib import Path

import pytest
from conftest import function, make_call, tiny_assignment

from grader.assignment import Limits, read_assignment
from grader.conversation import Conversation, TimeLimits
from grader.outcome import Raised, Returned
from grader.worker.rules.imports import Imports
from grader.worker.rules.scan import scan as scan_texts

ROOT = Path(__file__).parents[1]
ATTENTION = read_assignment(ROOT / "assignments/attention")
FILE = "single_head.py"
#: What is asked for, reached from nothing else.
ASKED = "scaled_dot_product_attention"
SDPA = "torch.nn.functional.scaled_dot_product_attention"
MHA = "torch.nn.MultiheadAttention"


@pytest.fixture
def scan(launcher):
    """What a scan says of sources: a text for `single_head.py`, or file names to texts."""

    def begin(sources, assignment=ATTENTION, **deadlines):
        files = {FILE: sources} if isinstance(sources, str) else sources
        with Conversation(launcher, files, assignment, TimeLimits(**deadlines)) as conversation:
            return conversation.scan()

    return begin


@pytest.fixture
def signs(scan):
    """Kind, line and text of each sign in a source."""

    def of(source):
        return [(sign.kind, sign.line, sign.detail) for sign in scan(source).findings]

    return of


def asked(body, top="import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"):
    """A source whose asked-for function has these lines, from line 5 on."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"{top}def {ASKED}(query, key, value):\n{lines}\n"


# --- forbidden names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "line", "detail"),
    [
        (asked("return F.scaled_dot_product_attention(query, key, value)"), 5, f"calls {SDPA}"),
        (asked("return torch.nn.functional.scaled_dot_product_attention(query)"), 5, f"calls {SDPA}"),
        (asked("return nn.functional.scaled_dot_product_attention(query)"), 5, f"calls {SDPA}"),
        (asked("attend = F.scaled_dot_product_attention\nreturn attend(query)"), 5, f"uses {SDPA}"),
        (asked("return list(map(F.scaled_dot_product_attention, query))"), 5, f"uses {SDPA}"),
        (
            asked("return M(4, 2)(query)", "from torch.nn import MultiheadAttention as M\n"),
            3,
            f"calls {MHA}",
        ),
        (asked("return hidden(query)", "from torch.nn.functional import *\nhidden = scaled_dot_product_attention\n")
         .replace(f"def {ASKED}", "def attention_with_loops"), 2, f"uses {SDPA}"),
        (asked("return t.MultiheadAttention(4, 2)", "import torch as it\nt = it.nn\n"), 4, f"calls {MHA}"),
        (
            asked("return nn.modules.activation.MultiheadAttention(4, 2)"),
            5,
            "calls torch.nn.modules.activation.MultiheadAttention",
        ),
        (asked("return nn.TransformerEncoderLayer(4, 2)"), 5, "calls torch.nn.TransformerEncoderLayer"),
        (
            asked("return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(query)"),
            5,
            "calls torch.ops.aten._scaled_dot_product_flash_attention_for_cpu",
        ),
        (
            asked("return flex_attention(query)", "from torch.nn.attention.flex_attention import flex_attention\n"),
            3,
            "calls torch.nn.attention.flex_attention.flex_attention",
        ),
        (
            "from torch import nn\nclass SingleHeadAttention(nn.MultiheadAttention):\n    pass\n",
            2,
            f"class SingleHeadAttention inherits from {MHA}",
        ),
        (
            "from torch import nn\nclass Inner(nn.MultiheadAttention):\n    pass\n"
            "class SingleHeadAttention(nn.Module):\n    inner = Inner\n",
            2,
            f"class Inner inherits from {MHA}",
        ),
        (asked("return h(query)") + "def h(x):\n    return nn.MultiheadAttention(4, 2)(x)\n", 7, f"calls {MHA}"),
        ("import torch\nlayer = torch.nn.MultiheadAttention(4, 2)\n", 2, f"calls {MHA}"),
    ],
)  # fmt: skip
def test_scan_use_of_a_forbidden_name_is_a_sign(signs, source, line, detail):
    """By whatever alias, at the line where it is used first."""
    assert ("forbidden_use", line, detail) == signs(source)[0]


def test_scan_forbidden_call_in_an_except_branch_is_a_sign_of_its_own(signs):
    """Own code that fails, and the library in its place."""
    body = (
        "try:\n    return query @ key\nexcept Exception:\n    return F.scaled_dot_product_attention(query, key, value)"
    )

    assert [("forbidden_fallback", 8, f"calls {SDPA}")] == signs(asked(body))


def test_scan_forbidden_call_in_a_helper_of_another_file_is_a_sign(scan):
    """What graded code imports is reached."""
    files = {
        FILE: "from tools import attend\n" + asked("return attend(query)"),
        "tools.py": "from torch.nn import functional as F\ndef attend(x):\n"
        "    return F.scaled_dot_product_attention(x, x, x)\n",
    }

    assert [("tools.py", 3)] == [(sign.file, sign.line) for sign in scan(files).findings]


def test_scan_use_that_grading_reaches_is_a_sign_though_another_is_not(signs):
    """The helper of a test may come first."""
    source = "import torch.nn.functional as F\ndef test_it():\n    F.scaled_dot_product_attention(1, 2, 3)\n"

    assert [("forbidden_use", 5, f"calls {SDPA}")] == signs(
        source + asked("return F.scaled_dot_product_attention(1)", "")
    )


@pytest.mark.parametrize(
    "source",
    [
        asked("ref = query @ key\nreturn ref")
        + "if __name__ == '__main__':\n    ref = F.scaled_dot_product_attention\n    ref(1, 2, 3)\n",
        asked("return query") + "if __name__ == '__main__':\n    print(F.scaled_dot_product_attention(1, 2, 3))\n",
        asked("return query") + "def test_it():\n    assert F.scaled_dot_product_attention(1, 2, 3) is None\n",
        asked("return query") + "def check():\n    return nn.MultiheadAttention(4, 2)\n"
        "def test_it():\n    check()\nif __name__ == '__main__':\n    test_it()\n",
        asked("return query", "from torch.nn import MultiheadAttention\nfrom torch.nn.functional import *\n"),
        asked(f"return {ASKED}(query, key, value)", "from torch.nn.functional import *\n"),
        asked(f"return single_head.{ASKED}(query)", "import single_head\n"),
        asked("'''Like nn.MultiheadAttention and F.scaled_dot_product_attention.'''\nreturn query"),
        asked("raise ValueError('scaled_dot_product_attention wants three axes, as nn.MultiheadAttention does')"),
        f"__all__ = ['{ASKED}']\n" + asked("return query"),
        asked("# F.scaled_dot_product_attention(query, key, value)\nreturn query"),
    ],
)
def test_scan_forbidden_name_that_grading_does_not_reach_is_no_sign(signs, source):
    """Comparing with torch while trying out, docstrings, error messages, the student's own function of that name."""
    assert [] == signs(source)


# --- ways around ------------------------------------------------------------------------------------------------

BLOB = base64.b64encode(bytes(2000)).decode()


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("return getattr(F, name)(query)", ("computed_name", 5, "getattr() with a name that is computed")),
        ("return getattr(F, 'scaled_dot' + '_product_attention')", ("hidden_name", 5, f"the text '{ASKED}'")),
        ("return getattr(F, ''.join(['scaled_dot', '_product_attention']))", ("hidden_name", 5, f"the text '{ASKED}'")),
        ("return getattr(F, 'noitnetta_tcudorp_tod_delacs'[::-1])", ("hidden_name", 5, f"the text '{ASKED}'")),
        ("x = 'Multihead' 'Attention'", ("hidden_name", 5, "the text 'MultiheadAttention'")),
        ("x = f\"Multihead{'Attention'}\"", ("hidden_name", 5, "the text 'MultiheadAttention'")),
        ("x = 'aten::anything'", ("hidden_name", 5, "the text 'aten::anything'")),
        (f"x = '{SDPA}'", ("hidden_name", 5, f"the text '{SDPA}'")),
        ("return eval('query')", ("dynamic_code", 5, "eval()")),
        ("exec('x = 1')", ("dynamic_code", 5, "exec()")),
        ("compile('1', '', 'eval')", ("dynamic_code", 5, "compile()")),
        ("__import__('torch')", ("dynamic_code", 5, "__import__()")),
        ("import importlib\nimportlib.import_module('x')", ("dynamic_code", 5, "importlib")),
        ("globals()['x']", ("computed_name", 5, "globals()")),
        ("vars(F)", ("computed_name", 5, "vars()")),
        ("F.__dict__['x']", ("computed_name", 5, "__dict__")),
        ("from operator import attrgetter", ("computed_name", 5, "operator.attrgetter")),
        ("import ctypes", ("native_code", 5, "ctypes")),
        ("import cffi", ("native_code", 5, "cffi")),
        ("import base64", ("blob", 5, "base64")),
        ("from zlib import decompress", ("blob", 5, "zlib.decompress")),
        ("import marshal", ("blob", 5, "marshal")),
        (f"x = '{BLOB}'", ("blob", 5, f"a literal of {len(BLOB)} characters")),
        (f"x = [{'0.5, ' * 400}]", ("blob", 5, "a table of 400 items")),
        ("torch.ops.mine.go(query)", ("internals", 5, "torch.ops.mine.go")),
        ("torch._C._nn.linear(query, key)", ("internals", 5, "torch._C._nn.linear")),
        ("torch.jit.script(nn.Linear(1, 1))", ("internals", 5, "torch.jit.script")),
        ("import torch.library", ("internals", 5, "torch.library")),
        ("from torch.overrides import TorchFunctionMode", ("internals", 5, "torch.overrides.TorchFunctionMode")),
        ("import gc", ("internals", 5, "gc")),
        ("import sys\nsys._getframe(1)", ("internals", 6, "sys._getframe")),
        ("import sys\nsys.modules['x']", ("internals", 6, "sys.modules")),
        ("import inspect\ninspect.stack()", ("internals", 6, "inspect.stack")),
        ("object.__subclasses__()", ("internals", 5, "__subclasses__")),
        ("x = 1  # \u202e", ("odd_characters", 5, "U+202E, which is not shown")),
        ("x = 'a\u200bb'", ("odd_characters", 5, "U+200B, which is not shown")),
        ("return \uff51\uff55ery", ("odd_characters", 5, "query is written with other letters")),
    ],
)  # fmt: skip
def test_scan_way_around_is_a_sign(signs, body, sign):
    """Each with its kind and its line."""
    assert sign in signs(asked(body))


@pytest.mark.parametrize(
    "body",
    [
        "return hasattr(query, 'shape') and getattr(query, 'dtype')",
        "return getattr(self, f'proj_{key}')",
        "query.eval()\nreturn re.compile('a')",
        "return [0.1] * 1000",
        "return torch.compile(query)",
        "'''" + "A long explanation. " * 200 + "'''\nreturn query",
        "x = 'Größe'  # größer\nreturn query",
        "größe = 1\nreturn größe",
        "assert query.__class__.__name__",
        "return torch.__version__",
        "self.__dict__.update(query=1)",
    ],
)
def test_scan_ordinary_code_is_no_sign(signs, body):
    """What honest homework contains."""
    assert [] == signs(asked(body))


@pytest.mark.parametrize(
    "folder",
    [
        folder
        for place in ("reference/variants/attention", "tests/data/solutions", "submissions_example/attention")
        for folder in sorted((ROOT / place).iterdir())
        if folder.name != "delegates_to_torch"
    ],
    ids=lambda folder: folder.name,
)
def test_scan_honest_submission_has_no_sign(scan, folder):
    """Neither right code in unusual styles, nor honest mistakes."""
    assert () == scan({file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}).findings


# --- files that are no trees ------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["def f(:\n", "x = 1\0", "(" * 500, "x = " + "-" * 100_000 + "1"])
def test_scan_file_that_does_not_parse_is_left_to_its_import(scan, broken):
    """The others are scanned, and nothing is lost."""
    found = scan({FILE: broken, "masked.py": "import torch\nx = torch.nn.MultiheadAttention(4, 2)\n"})

    assert [("masked.py", 2)] == [(sign.file, sign.line) for sign in found.findings]


def test_scan_deep_nesting_is_walked(signs):
    """No depth of the text is one of the scan's own stack."""
    source = asked("x = " + "+".join(["query"] * 900) + "\nreturn F.scaled_dot_product_attention(x, x, x)")

    assert [("forbidden_use", 6, f"calls {SDPA}")] == signs(source)


def test_scan_signs_beyond_the_most_are_dropped(scan):
    """A report stays readable."""
    source = asked("\n".join(f"torch.ops.mine.op{number}(query)" for number in range(500)))

    assert 100 == len(scan(source).findings)


#: A text that takes the parser longer than a second.
SLOW = "x = [" + "[1, 2, (3, 4)], " * 60_000 + "]\n"


def test_scan_file_that_the_parser_does_not_survive_is_refused_and_the_others_are_graded(launcher):
    """It fails to import, saying why; its neighbours are asked as ever."""
    files = {"work.py": SLOW, "other.py": function("return x")}

    with Conversation(launcher, files, tiny_assignment(), TimeLimits(import_s=0.5)) as conversation:
        conversation.scan()
        refused = conversation.ask(make_call(), None).reply
        other = conversation.ask(make_call(part="other"), None).reply

    assert isinstance(refused, Raised), refused
    assert ("import", "SyntaxError", ("work",)) == (refused.stage, refused.type, refused.failed)
    assert "Python's own parser did not come to an end with this file" == refused.message
    assert isinstance(other, Returned)


def test_scan_parser_out_of_memory_leaves_the_worker_alive(launcher):
    """A tree can be a hundred times as large as its text."""
    limits = tiny_assignment(Limits(memory_mib=64))

    with Conversation(launcher, {"work.py": SLOW, "other.py": function("return x")}, limits, TimeLimits()) as talk:
        talk.scan()

        assert isinstance(talk.ask(make_call(part="other"), None).reply, Returned)


# --- imports ----------------------------------------------------------------------------------------------------


def test_scan_absent_imports_are_told_once_each(scan):
    """A package by name, with its first line; none that may never run."""
    source = "import os\nimport nowhere.deep as n\nfrom nowhere import x\nimport jinja2\n"
    source += "try:\n    import elsewhere\nexcept ImportError:\n    pass\n"
    source += "if __name__ == '__main__':\n    import faraway\ndef f():\n    import further\n"

    absent = [(one.line, one.package, one.reason) for one in scan(source).absent]

    assert [(2, "nowhere", "not installed"), (4, "jinja2", "not allowed")] == absent


def test_scan_name_of_any_length_is_told_short(scan):
    """A hostile name costs nothing but itself."""
    found = scan(f"import {'a' * 5000}\n" + asked(f"torch.ops.{'b' * 5000}.go(query)"))

    assert ["a" * 200] == [one.package for one in found.absent]
    assert [200] == [len(sign.detail) for sign in found.findings]


def test_scan_runs_nothing_of_a_file_that_an_installed_package_imports(talk):
    """Finding out what is installed imports packages; they must not find a file of the student's, which could lie."""
    files = {
        "work.py": "import torch.utils.tensorboard\nimport ctypes\n\n" + function("return ctypes"),
        "tensorboard.py": "import sys\n__version__ = '2.0'\nwire = sys.modules['grader_worker.wire']\n"
        "real = wire.encode\nwire.encode = lambda header, tensors: real(dict(header, findings=[], absent=[]) "
        "if header.get('status') == 'scanned' else header, tensors)\n",
    }

    found = talk(files).scan()

    assert {"native_code", "internals"} <= {sign.kind for sign in found.findings}


@pytest.mark.parametrize("name", ["torch.onnx.ops.rotary_embedding", "torch.nn.attention.sdpa_kernel", "torch._decomp"])
def test_scan_name_that_the_assignment_has_looked_at_is_a_sign(name):
    """Ways to the answer that nobody has thought of have names that are like those that are known."""
    rules = read_assignment(ROOT / "assignments" / "attention").rules
    imports = Imports(rules.imports, [])

    found = scan_texts({"work.py": f"import torch\nx = {name}\n"}, imports, rules.forbidden, rules.flagged, [])

    assert found["findings"]
