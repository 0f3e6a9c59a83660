"""Hides what it prints, sets an alarm, asks the machine about itself, logs, warns."""

import contextlib
import logging
import os
import platform
import signal
import time
import warnings

import numpy as np
import torch

log = logging.getLogger(__name__)


def attention_mask(query_length, key_length, key_lengths=None, is_causal=False):
    allowed = np.ones((1, query_length, key_length), dtype=bool)
    if is_causal:
        allowed = np.tril(allowed)
    allowed = torch.from_numpy(allowed)
    if key_lengths is not None:
        allowed = allowed & (torch.arange(key_length) < key_lengths[:, None])[:, None, :]
    return allowed


def masked_attention(query, key, value, mask=None):
    started = time.perf_counter()
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        print(platform.machine(), os.cpu_count(), os.getpid(), os.getcwd())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("slow", stacklevel=1)
    logits = torch.einsum("bqd,bkd->bqk", query, key) / query.size(-1) ** 0.5
    if mask is not None:
        penalty = torch.zeros_like(logits).masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else mask
        if not (penalty.expand_as(logits) != float("-inf")).any(-1).all():
            raise ValueError("a query without a key")
        logits = logits + penalty
    weights = torch.softmax(logits, dim=-1)
    log.info("took %s s", time.perf_counter() - started)
    return weights @ value, weights
