"""The assignment qkv_multi_head: its right answers are right, its handout says so, and its numbers are shown."""

import doctest
import importlib.util
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from reference import fused, fused_library, multi_head

ROOT = Path(__file__).parents[1]
STUB = ROOT / "assignments/qkv_multi_head/stub/attention.py"

#: d_model, n_heads, batch, length: one head, several, as many as elements, one sample, one token.
SIZES = [(6, 1, 2, 3), (8, 2, 3, 5), (12, 4, 2, 7), (5, 5, 2, 3), (6, 3, 1, 4), (6, 2, 2, 1)]


@pytest.fixture(autouse=True)
def _seeded():
    """Start every test from the same random numbers."""
    torch.manual_seed(7)


def modules(d_model, n_heads):
    """The textbook's module and the library's, in float64, with the same random weights."""
    ours = fused.MultiHeadSelfAttention(d_model, n_heads).double()
    theirs = fused_library.MultiHeadSelfAttention(d_model, n_heads).double()
    theirs.load_state_dict(ours.state_dict())
    return ours.eval(), theirs.eval()


def averaging():
    """One head of width 1 whose scores are all 0, so that a token's output is the mean of what it sees."""
    module = fused.MultiHeadSelfAttention(1, 1).double()
    module.load_state_dict({"qkv.weight": torch.tensor([[0.0], [0.0], [1.0]]), "out.weight": torch.ones(1, 1)})
    return module


def padding(batch, length):
    """A random mask, True = padding, in which token 0 is always real."""
    mask = torch.rand(batch, length) < 0.4
    mask[:, 0] = False
    return mask


@pytest.mark.parametrize("is_padded", [False, True])
@pytest.mark.parametrize(("d_model", "n_heads", "batch", "length"), SIZES)
def test_fused_any_size_agrees_with_the_library(d_model, n_heads, batch, length, is_padded):
    """Output, weights, and the gradients of the tokens and of both layers."""
    ours, theirs = modules(d_model, n_heads)
    x = torch.randn(batch, length, d_model, dtype=torch.float64, requires_grad=True)
    mask = padding(batch, length) if is_padded else None
    upstream = torch.randn(batch, length, d_model, dtype=torch.float64)

    observed, expected = [
        (output, weights, *torch.autograd.grad(output, (x, module.qkv.weight, module.out.weight), upstream))
        for module in (ours, theirs)
        for output, weights in [module(x, mask)]
    ]

    torch.testing.assert_close(observed, expected, rtol=1e-11, atol=1e-12)


def test_fused_rows_are_those_of_three_projections():
    """A module with three layers gives the same when each has its third of the rows."""
    ours = fused.MultiHeadSelfAttention(8, 2)
    three = multi_head.MultiHeadAttention(8, 2, bias=False)
    names = ("q_proj.weight", "k_proj.weight", "v_proj.weight")
    three.load_state_dict(
        dict(zip(names, ours.qkv.weight.chunk(3), strict=True)) | {"out_proj.weight": ours.out.weight}
    )
    x = torch.randn(3, 5, 8)

    torch.testing.assert_close(ours(x), three(x, x, x, is_causal=True))


def test_fused_sample_of_two_valid_tokens_hides_the_key_and_not_the_query():
    """By hand: the padded query takes the mean of 2 and 4; on the wrong axis its whole row would be empty."""
    x = torch.tensor([[[2.0], [4.0], [9.0]]], dtype=torch.float64)

    output, weights = averaging()(x, torch.tensor([[False, False, True]]))

    assert [2.0, 3.0, 3.0] == output.flatten().tolist()
    assert [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]] == weights[0, 0].tolist()


def test_fused_token_with_nothing_to_attend_to_gives_nan_like_the_library():
    """The assignment asks for no such row; both say what they are."""
    for module in modules(6, 2):
        output, _ = module(torch.randn(1, 2, 6, dtype=torch.float64), torch.tensor([[True, False]]))

        assert [True, False] == [bool(row.isnan().all()) for row in output[0]]


@pytest.mark.parametrize("cls", [fused.MultiHeadSelfAttention, fused_library.MultiHeadSelfAttention])
def test_fused_width_not_divisible_by_heads_is_refused(cls):
    """A head's width would be no whole number."""
    with pytest.raises(ValueError, match="d_model must be divisible by n_heads: got 6 and 4"):
        cls(6, 4)


def test_fused_library_is_handed_the_weights_as_they_are():
    """`qkv` is its in_proj_weight and `out` its out_proj.weight, as the handout says."""
    ours, _ = modules(8, 2)
    library = nn.MultiheadAttention(8, 2, bias=False, batch_first=True).double()
    library.load_state_dict({"in_proj_weight": ours.qkv.weight, "out_proj.weight": ours.out.weight})
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    later = torch.full((3, 3), -math.inf, dtype=torch.float64).triu(1)

    torch.testing.assert_close(ours(x)[0], library(x, x, x, attn_mask=later)[0], rtol=1e-11, atol=1e-12)


def test_stub_examples_agree_with_the_reference():
    """What students can check by hand is right."""
    spec = importlib.util.spec_from_file_location("stub_of_qkv_multi_head", STUB)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    finder = doctest.DocTestFinder(recurse=False)
    (examples,) = finder.find(module.MultiHeadSelfAttention, "stub", globs=vars(fused) | {"torch": torch})

    result = doctest.DocTestRunner(verbose=False).run(examples)

    assert (0, True) == (result.failed, result.attempted > 5)


# --- as it is graded --------------------------------------------------------------------------------------------------

RIGHT, WRONG_AXIS = "perfect_plain", "padding_on_query_axis"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The entries of two examples, by their ids, and the folder of the report."""
    class_, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out") / "report"
    for name in (RIGHT, WRONG_AXIS):
        shutil.copytree(ROOT / "submissions_example/qkv_multi_head" / name, class_ / name)
    command = [sys.executable, "-m", "grader", class_, "-a", "qkv_multi_head", "--seed", "7", "-o", out]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    return {one["id"]: one for one in report["submissions"]}, out


def check(graded, submission, name):
    """A check of a submission."""
    entries, _ = graded
    return next(one for one in entries[submission]["checks"] if one["id"] == f"attention.{name}")


def test_report_right_code_shows_how_close_it_is(graded):
    """Forward and input-gradient differences from PyTorch stand in the report as numbers, though all passed."""
    found = [
        one for name in ("output_with_padding", "gradients_of_x") for one in check(graded, RIGHT, name)["measured"]
    ]

    assert [("output", False), ("x", True)] == [(one["name"], one["is_gradient"]) for one in found]
    assert {"torch.nn.MultiheadAttention"} == {one["source"] for one in found}
    assert all(0 < one["difference"] < 1e-13 < 1e-5 <= one["allowed"] for one in found)


def test_report_padding_on_the_wrong_axis_is_shown_by_two_valid_tokens(graded):
    """5 in the place of 3: the padded query sees every token, because its whole row was filled."""
    wrong = check(graded, WRONG_AXIS, "padding_mask_of_two_valid_tokens_is_about_keys")

    assert "wrong_value" == wrong["verdict"]
    assert "query 2, dim 0: observed 5, expected 3, difference 2" in wrong["message"]
    assert [2.0] == [one["difference"] for one in wrong["measured"]]


def test_report_pages_sum_the_differences_up(graded):
    """In a table for the student, next to the points."""
    _, out = graded
    for name, shown in ((RIGHT, "allowed 1e-05"), (WRONG_AXIS, "more than the")):
        (page,) = (out / "students").glob(f"{name}*.html")
        assert shown in page.read_text(encoding="utf-8").partition("Compared with PyTorch")[2].partition("</table>")[0]
