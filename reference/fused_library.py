"""PyTorch's own attention behind the interface of `reference.fused`: a second, independent opinion.

Nothing here computes attention. Source: the documentation of `torch.nn.MultiheadAttention`.
"""

import torch
from torch import Tensor, nn
from torch.func import functional_call


class MultiHeadSelfAttention(nn.Module):
    """`reference.fused.MultiHeadSelfAttention`, its interface and parameters, run by the library's module.

    Args and errors as there (the library itself would fail on an assertion).
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model must be divisible by n_heads: got {d_model} and {n_heads}")
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        # Only its code is wanted: its parameters have no storage, and the tuple keeps them unregistered.
        library = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True, device="meta")
        self._library = (library.eval(),)

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Run the library's module with `qkv` as its `in_proj_weight` and `out` as its `out_proj`.

        Args and shapes as in `reference.fused`; a token that may attend to nothing gives NaN there as here.
        """
        length = x.shape[1]
        options = {
            "key_padding_mask": padding_mask,  # True = ignored, there as here
            # The library wants the mask itself: `is_causal` alone is a hint about it, and an error without it.
            "attn_mask": torch.ones(length, length, dtype=torch.bool).triu(diagonal=1),  # True = ignored
            "need_weights": True,
            "average_attn_weights": False,
        }
        parameters = {"in_proj_weight": self.qkv.weight, "out_proj.weight": self.out.weight}
        output, weights = functional_call(self._library[0], parameters, (x, x, x), options)
        return output, weights
