"""The yardstick: what a course does without a grader. Plain pytest, in one process with the student's code.

As many tests as the assignment has checks; each calls a function or module of the student's, backward included, and
compares with what is right, which it reads from a file instead of computing it. Environment: PYTHONPATH, the student's
folder; CALLS, the file that `bare_fork.py ASSIGNMENT write FOLDER` wrote.
"""

import importlib
import os

import pytest
import torch

CALLS = torch.load(os.environ["CALLS"])


@pytest.mark.parametrize("asked", CALLS)
def test_question(asked):
    torch.set_default_dtype(getattr(torch, asked["dtype"]))
    function = getattr(importlib.import_module(asked["part"]), asked["name"])
    if asked["raises"]:
        with pytest.raises((ValueError, TypeError)):
            _call(function, asked, {})
        return
    tensors = {name: tensor.clone() for name, tensor in asked["inputs"].items()}
    wanted = [tensors[name].requires_grad_() for name in asked["wants"]]
    result = _call(function, asked, tensors)
    values = result if isinstance(result, tuple) else (result,)
    for observed, expected in zip(values, asked["expected"], strict=False):
        torch.testing.assert_close(observed, expected)
    if asked["upstream"] is not None:
        found = torch.autograd.grad(values[0], wanted, asked["upstream"], allow_unused=True)
        for name, observed in zip(asked["wants"], found, strict=True):
            if name in asked["gradients"]:
                torch.testing.assert_close(observed, asked["gradients"][name])


def _call(function, asked, tensors):
    tensors = tensors or asked["inputs"]
    if asked["build"]:
        function = function(**asked["build"]["arguments"]).to(getattr(torch, asked["dtype"]))
        function = function.double() if asked["build"]["double"] else function
        if asked["reads"]:
            return tuple(dict(function.named_parameters())[name] for name in asked["reads"])
        function.load_state_dict(asked["parameters"], strict=False)
        function.train(asked["mode"] == "train")
    torch.manual_seed(asked["seed"])
    return function(
        *[_value(one, tensors) for one in asked["args"]],
        **{name: _value(one, tensors) for name, one in asked["kwargs"].items()},
    )


def _value(node, tensors):
    return tensors[node["tensor"]] if isinstance(node, dict) else node
