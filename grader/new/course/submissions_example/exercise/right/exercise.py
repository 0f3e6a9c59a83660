import torch


def exercise(scores, temperature=1.0):
    logits = scores / temperature
    exponentials = torch.exp(logits - logits.max(dim=1, keepdim=True).values)
    return exponentials / exponentials.sum(dim=1, keepdim=True)
