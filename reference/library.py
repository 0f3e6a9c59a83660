"""PyTorch's own attention behind the interface of the textbook: a second, independent opinion.

The textbook modules may share an error with whoever wrote them; the library does not. Nothing here computes
attention: these are adapters, and differ from the textbook only where the library does (each docstring says
where).

Source: the documentation of `torch.nn.MultiheadAttention` and of
`torch.nn.functional.scaled_dot_product_attention`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, None]:
    """Call the library's function on the same arguments.

    Args and shapes as in `reference.attention.scaled_dot_product_attention`.

    Returns:
        The output [batch, query, value_dim], and None: the library does not show its weights.
    """
    return F.scaled_dot_product_attention(query, key, value), None


def masked_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, None]:
    """Call the library's function with the mask, which has the same meaning there (True = may attend).

    Args and shapes as in `reference.masks.masked_attention`.

    Returns:
        The output [batch, query, value_dim], and None: the library does not show its weights. A query that
        may attend to nothing raises no error here: what its row then holds is the library's choice.
    """
    if mask is not None:
        mask = mask.expand(query.shape[0], query.shape[1], key.shape[1])
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), None


class MultiHeadAttention(nn.Module):
    """`reference.multi_head.MultiHeadAttention`, its interface and parameters, run by the library's module.

    The library stacks its three input projections in one parameter. Here they are kept apart, and stacked
    anew in each call, so that weights can be copied by name and gradients reach each layer.

    Args:
        d_model: size of each input and output vector.
        n_heads: number of heads.
        bias: whether the four layers add a bias.

    Raises:
        ValueError: `d_model` is not divisible by `n_heads` (the library would fail on an assertion).
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model must be divisible by n_heads: got {d_model} and {n_heads}")
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        # Only its code is wanted: its parameters have no storage, and the tuple keeps them unregistered.
        library = nn.MultiheadAttention(d_model, n_heads, bias=bias, batch_first=True, device="meta")
        self._library = (library.eval(),)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Run the library's module on this module's parameters.

        Args and shapes as in `reference.multi_head.MultiHeadAttention.forward`.

        Returns:
            The output [batch, query, d_model], and the weights of each head [batch, head, query, key]. A
            query that may attend to nothing gives NaN instead of an error.
        """
        options = {
            "key_padding_mask": key_padding_mask,  # True = ignored, there as here
            "attn_mask": _later_keys(query.shape[1], key.shape[1]) if is_causal else None,
            "need_weights": True,
            "average_attn_weights": False,
        }
        inputs = (query, key, value)
        output, weights = functional_call(self._library[0], self._stacked(), inputs, options)
        return output, weights

    def _stacked(self) -> dict[str, Tensor]:
        """Return this module's parameters under the names, and in the layout, of the library's."""
        projections = (self.q_proj, self.k_proj, self.v_proj)
        stacked: dict[str, Tensor] = {
            "in_proj_weight": torch.cat([layer.weight for layer in projections]),
            "out_proj.weight": self.out_proj.weight,
        }
        if self.out_proj.bias is not None:
            stacked["in_proj_bias"] = torch.cat([layer.bias for layer in projections])
            stacked["out_proj.bias"] = self.out_proj.bias
        return stacked


def _later_keys(query_length: int, key_length: int) -> Tensor:
    """Mark the keys after each query: [query, key], True = ignored.

    The library wants the mask itself: `is_causal` alone is a hint about it, and an error without it.
    """
    return torch.ones(query_length, key_length, dtype=torch.bool).triu(diagonal=1)
