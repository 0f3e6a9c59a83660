import torch


def exercise(scores, temperature=1.0):
    exponentials = torch.exp(scores / temperature)
    return exponentials / exponentials.sum(dim=1, keepdim=True)
