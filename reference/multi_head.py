"""Attention with several heads, each looking at its own slice of the projected vectors.

Agrees with `torch.nn.MultiheadAttention(batch_first=True)` in conventions and in numbers, but keeps the three
input projections apart instead of stacking them in one `in_proj_weight`.

Source: Vaswani et al. 2017, section 3.2.2.
"""

from torch import Tensor, nn

from reference.masks import attend, causal_mask


class MultiHeadAttention(nn.Module):
    """Attend with every head at once, then mix what the heads found.

    Args:
        d_model: size of each input and output vector. Head h works on elements h * d_head to (h + 1) * d_head
            of the projected vectors, with d_head = d_model / n_heads.
        n_heads: number of heads.
        bias: whether the four layers add a bias.

    Raises:
        ValueError: `d_model` is not divisible by `n_heads`.

    Source: Vaswani et al. 2017, section 3.2.2, with d_k = d_v = d_model / h.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model must be divisible by n_heads: got {d_model} and {n_heads}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Project, split into heads, attend, join the heads, project again.

        Args:
            query: [batch, query, d_model].
            key: [batch, key, d_model].
            value: [batch, key, d_model].
            key_padding_mask: [batch, key], Boolean, True = ignored (the opposite of `reference.masks`).
            is_causal: hide later keys, as in `reference.masks.causal_mask`.

        Returns:
            The output [batch, query, d_model], and the weights of each head [batch, head, query, key]. A
            query that may attend to nothing gives NaN.
        """
        mask = None
        if is_causal:
            is_visible = causal_mask(query.shape[1], key.shape[1])
            mask = is_visible[None]  # [1, query, key]: all samples alike
        if key_padding_mask is not None:
            is_real = ~key_padding_mask
            is_real = is_real[:, None, :]  # [batch, 1, key]: all queries of a sample alike
            mask = is_real if mask is None else mask & is_real
        if mask is not None:
            mask = mask[:, None]  # [batch, 1, query, key]: all heads alike

        projected_query = self.q_proj(query)
        projected_key = self.k_proj(key)
        projected_value = self.v_proj(value)
        head_query = self.split_heads(projected_query)
        head_key = self.split_heads(projected_key)
        head_value = self.split_heads(projected_value)
        head_output, weights = attend(head_query, head_key, head_value, mask)
        joined = self.join_heads(head_output)
        output: Tensor = self.out_proj(joined)
        return output, weights

    def split_heads(self, projected: Tensor) -> Tensor:
        """Give each head its slice: [batch, position, d_model] to [batch, head, position, d_head]."""
        batch, length, _ = projected.shape
        slices = projected.reshape(batch, length, self.n_heads, self.d_head)
        return slices.transpose(1, 2)

    def join_heads(self, head_output: Tensor) -> Tensor:
        """Undo `split_heads`: [batch, head, position, d_head] to [batch, position, d_model]."""
        batch, _, length, _ = head_output.shape
        slices = head_output.transpose(1, 2)
        return slices.reshape(batch, length, self.n_heads * self.d_head)
