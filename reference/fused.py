"""Causal self-attention with several heads, whose three input projections are one layer.

Agrees with `torch.nn.MultiheadAttention(batch_first=True, bias=False)` in numbers, and in the layout of its weights:
the rows of `qkv` are those of `in_proj_weight`.

Source: Vaswani et al. 2017, section 3.2.2 and, for the mask, section 3.2.3.
"""

import torch
from torch import Tensor, nn

from reference.masks import attend


class MultiHeadSelfAttention(nn.Module):
    """Let each token attend to itself and to earlier ones, with every head at once.

    Args:
        d_model: size of each input and output vector. Head h works on elements h * d_head to (h + 1) * d_head
            of query, key and value, with d_head = d_model / n_heads.
        n_heads: number of heads.

    Raises:
        ValueError: `d_model` is not divisible by `n_heads`.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model must be divisible by n_heads: got {d_model} and {n_heads}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Project, cut in three, split into heads, attend, join the heads, project again.

        Args:
            x: [batch, token, d_model].
            padding_mask: [batch, token], Boolean, True = padding: nobody attends to it. None: there is none.

        Returns:
            The output [batch, token, d_model], and the weights of each head [batch, head, token, token]. A token that
            may attend to nothing, because it and all before it are padding, gives NaN.
        """
        length = x.shape[1]
        is_visible = torch.ones(length, length, dtype=torch.bool).tril()  # [query, key]: no later keys
        mask = is_visible[None, None]  # [1, 1, query, key]: all samples and all heads alike
        if padding_mask is not None:
            is_real = ~padding_mask  # [batch, key]
            is_real = is_real[:, None, None, :]  # all heads and all queries of a sample alike
            mask = mask & is_real

        projected = self.qkv(x)  # [batch, token, 3 * d_model]
        d_model = x.shape[-1]
        query = projected[..., :d_model]
        key = projected[..., d_model : 2 * d_model]
        value = projected[..., 2 * d_model :]
        head_query = self.split_heads(query)
        head_key = self.split_heads(key)
        head_value = self.split_heads(value)
        head_output, weights = attend(head_query, head_key, head_value, mask)
        joined = self.join_heads(head_output)
        output: Tensor = self.out(joined)
        return output, weights

    def split_heads(self, part: Tensor) -> Tensor:
        """Give each head its slice: [batch, token, d_model] to [batch, head, token, d_head]."""
        batch, length, _ = part.shape
        slices = part.reshape(batch, length, self.n_heads, self.d_head)
        return slices.transpose(1, 2)

    def join_heads(self, head_output: Tensor) -> Tensor:
        """Undo `split_heads`: [batch, head, token, d_head] to [batch, token, d_model]."""
        batch, _, length, _ = head_output.shape
        slices = head_output.transpose(1, 2)
        return slices.reshape(batch, length, self.n_heads * self.d_head)
