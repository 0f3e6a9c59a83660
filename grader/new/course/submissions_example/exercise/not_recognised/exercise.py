import torch


def exercise(scores, temperature=1.0):
    exponentials = torch.exp(scores / temperature - 1) ** 1.01
    return exponentials / exponentials.sum(dim=1, keepdim=True)
