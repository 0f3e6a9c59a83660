"""Right code in another style: by way of logarithms, row by row. `grade verify` holds that it loses no point."""

import torch


def exercise(scores, temperature=1.0):
    rows = []
    for row in scores.unbind():
        logits = row.div(temperature)
        rows.append((logits - logits.logsumexp(0)).exp())
    return torch.stack(rows)
