"""Right code in another style: row by row, by way of logarithms. `grade verify` holds that it loses no point.

One folder for each style; collect what students write that is right and looks unlike the reference.
"""

import torch


def exercise(scores, temperature=1.0):
    rows = []
    for row in scores.unbind():
        logits = row.div(temperature)
        rows.append((logits - logits.logsumexp(0)).exp())
    return torch.stack(rows)
