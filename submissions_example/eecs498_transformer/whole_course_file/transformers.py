"""
Implements a transformer in PyTorch.
WARNING: you SHOULD NOT use ".to()" or ".cuda()" in each implementation block.
"""
import math

import torch
from torch import Tensor, nn, optim
from torch.nn import functional as F
from torch.utils.data import Dataset

from a5_helper import reset_seed, train as train_transformer


def hello_transformers():
    print("Hello from transformers.py!")


def generate_token_dict(vocab):
    # string token -> index
    token_dict = {}
    # Replace "pass" statement with your code
    for i, word in enumerate(vocab):
        token_dict[word] = i
    return token_dict


def prepocess_input_sequence(input_str, token_dict, spc_tokens):
    out = []
    for word in input_str.split():
        if word in spc_tokens:
            out.append(token_dict[word])
        else:
            for digit in word:
                out.append(token_dict[digit])
    return out


def scaled_dot_product_two_loop_single(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    # make a placeholder for the output
    y = None
    ############################################################################
    # TODO: attention of a single sequence with two for loops                  #
    ############################################################################
    # Replace "pass" statement with your code
    K, M = query.shape
    attention = query.new_zeros(K, K)
    for i in range(K):
        for j in range(K):
            attention[i, j] = torch.dot(query[i], key[j]) / math.sqrt(M)
    y = F.softmax(attention, dim=1) @ value
    ############################################################################
    #                             END OF YOUR CODE                             #
    ############################################################################
    return y


def scaled_dot_product_two_loop_batch(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    # make a placeholder for the output
    y = None
    ############################################################################
    # TODO: the same for a batch                                               #
    ############################################################################
    # Replace "pass" statement with your code
    N, K, M = query.shape
    attention = query.new_zeros(N, K, K)
    for i in range(K):
        for j in range(K):
            attention[:, i, j] = torch.bmm(query[:, i].unsqueeze(1), key[:, j].unsqueeze(2)).view(N)
    attention = F.softmax(attention / math.sqrt(M), dim=2)
    y = torch.bmm(attention, value)
    ############################################################################
    #                             END OF YOUR CODE                             #
    ############################################################################
    return y


def scaled_dot_product_no_loop_batch(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
    _, _, M = query.shape
    # make placeholders for the outputs
    y, weights_softmax = None, None
    ############################################################################
    # TODO: no loops, and a mask                                               #
    ############################################################################
    # Replace "pass" statement with your code
    scores = torch.bmm(query, key.transpose(1, 2)) / M**0.5
    if mask is not None:
        # what is True in the mask must not be looked at
        scores = scores.masked_fill(mask, -1e9)
    weights_softmax = F.softmax(scores, dim=2)
    y = torch.bmm(weights_softmax, value)
    ############################################################################
    #                             END OF YOUR CODE                             #
    ############################################################################
    return y, weights_softmax


class SelfAttention(nn.Module):
    def __init__(self, dim_in: int, dim_q: int, dim_v: int):
        super().__init__()
        self.q = None  # initialize for query
        self.k = None  # initialize for key
        self.v = None  # initialize for value
        self.weights_softmax = None
        # Replace "pass" statement with your code
        self.q = nn.Linear(dim_in, dim_q)
        self.k = nn.Linear(dim_in, dim_q)
        self.v = nn.Linear(dim_in, dim_v)
        for layer in [self.q, self.k, self.v]:
            D_out, D_in = layer.weight.shape
            c = math.sqrt(6 / (D_in + D_out))
            nn.init.uniform_(layer.weight, a=-c, b=c)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        self.weights_softmax = None
        y = None
        # Replace "pass" statement with your code
        y, self.weights_softmax = scaled_dot_product_no_loop_batch(self.q(query), self.k(key), self.v(value), mask)
        return y


class MultiHeadAttention(nn.Module):
    def __init__(self, num_heads: int, dim_in: int, dim_out: int):
        super().__init__()
        # Replace "pass" statement with your code
        self.attention_heads = nn.ModuleList([SelfAttention(dim_in, dim_out, dim_out) for _ in range(num_heads)])
        self.linear = nn.Linear(num_heads * dim_out, dim_in)
        c = math.sqrt(6 / (num_heads * dim_out + dim_in))
        nn.init.uniform_(self.linear.weight, -c, c)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None) -> Tensor:
        y = None
        # Replace "pass" statement with your code
        y = torch.cat([head(query, key, value, mask) for head in self.attention_heads], dim=2)
        y = self.linear(y)
        return y


class LayerNormalization(nn.Module):
    def __init__(self, emb_dim: int, epsilon: float = 1e-10):
        super().__init__()
        self.epsilon = epsilon
        self.gamma = nn.Parameter(torch.ones(emb_dim))
        self.beta = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x: Tensor):
        mean = torch.mean(x, dim=-1, keepdim=True)
        std = torch.sqrt(torch.mean((x - mean) ** 2, dim=-1, keepdim=True) + self.epsilon)
        return self.gamma * (x - mean) / std + self.beta


class FeedForwardBlock(nn.Module):
    def __init__(self, inp_dim: int, hidden_dim_feedforward: int):
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(inp_dim, hidden_dim_feedforward), nn.ReLU(), nn.Linear(hidden_dim_feedforward, inp_dim)
        )

    def forward(self, x):
        return self.mlp(x)


class EncoderBlock(nn.Module):
    def __init__(self, num_heads: int, emb_dim: int, feedforward_dim: int, dropout: float):
        super().__init__()
        if emb_dim % num_heads != 0:
            raise ValueError("emb_dim is not divisible by num_heads")
        self.attention = MultiHeadAttention(num_heads, emb_dim, emb_dim // num_heads)
        self.norm1 = LayerNormalization(emb_dim)
        self.norm2 = LayerNormalization(emb_dim)
        self.feed_forward = FeedForwardBlock(emb_dim, feedforward_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        out1 = self.dropout(self.norm1(self.attention(x, x, x) + x))
        return self.dropout(self.norm2(self.feed_forward(out1) + out1))


def get_subsequent_mask(seq):
    mask = None
    # Replace "pass" statement with your code
    N, K = seq.shape
    mask = torch.ones(N, K, K, dtype=torch.bool, device=seq.device)
    mask = torch.triu(mask, diagonal=1)
    return mask


class DecoderBlock(nn.Module):
    def __init__(self, num_heads: int, emb_dim: int, feedforward_dim: int, dropout: float):
        super().__init__()
        self.attention_self = MultiHeadAttention(num_heads, emb_dim, emb_dim // num_heads)
        self.attention_cross = MultiHeadAttention(num_heads, emb_dim, emb_dim // num_heads)
        self.feed_forward = FeedForwardBlock(emb_dim, feedforward_dim)
        self.norm1 = LayerNormalization(emb_dim)
        self.norm2 = LayerNormalization(emb_dim)
        self.norm3 = LayerNormalization(emb_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, dec_inp: Tensor, enc_inp: Tensor, mask: Tensor = None) -> Tensor:
        out = self.dropout(self.norm1(self.attention_self(dec_inp, dec_inp, dec_inp, mask) + dec_inp))
        out = self.dropout(self.norm2(self.attention_cross(out, enc_inp, enc_inp) + out))
        return self.dropout(self.norm3(self.feed_forward(out) + out))


class Encoder(nn.Module):
    def __init__(self, num_heads, emb_dim, feedforward_dim, num_layers, dropout):
        super().__init__()
        self.layers = nn.ModuleList(
            [EncoderBlock(num_heads, emb_dim, feedforward_dim, dropout) for _ in range(num_layers)]
        )

    def forward(self, src_seq: Tensor):
        for layer in self.layers:
            src_seq = layer(src_seq)
        return src_seq


class Decoder(nn.Module):
    def __init__(self, num_heads, emb_dim, feedforward_dim, num_layers, dropout, vocab_len):
        super().__init__()
        self.layers = nn.ModuleList(
            [DecoderBlock(num_heads, emb_dim, feedforward_dim, dropout) for _ in range(num_layers)]
        )
        self.proj_to_vocab = nn.Linear(emb_dim, vocab_len)
        nn.init.xavier_uniform_(self.proj_to_vocab.weight)

    def forward(self, target_seq: Tensor, enc_out: Tensor, mask: Tensor):
        out = target_seq.clone()
        for layer in self.layers:
            out = layer(out, enc_out, mask)
        return self.proj_to_vocab(out)


def position_encoding_simple(K: int, M: int) -> Tensor:
    y = torch.arange(K).view(1, K, 1).repeat(1, 1, M) / K
    return y


def position_encoding_sinusoid(K: int, M: int) -> Tensor:
    y = torch.zeros(1, K, M)
    for p in range(K):
        for i in range(M):
            angle = torch.tensor(p / 10000 ** (2 * (i // 2) / M))
            y[0, p, i] = torch.sin(angle) if i % 2 == 0 else torch.cos(angle)
    return y


class Transformer(nn.Module):
    def __init__(self, num_heads, emb_dim, feedforward_dim, dropout, num_enc_layers, num_dec_layers, vocab_len):
        super().__init__()
        self.emb_layer = nn.Embedding(vocab_len, emb_dim)
        self.encoder = Encoder(num_heads, emb_dim, feedforward_dim, num_enc_layers, dropout)
        self.decoder = Decoder(num_heads, emb_dim, feedforward_dim, num_dec_layers, dropout, vocab_len)

    def forward(self, ques_b: Tensor, ques_pos: Tensor, ans_b: Tensor, ans_pos: Tensor) -> Tensor:
        q_emb_inp = self.emb_layer(ques_b) + ques_pos
        a_emb_inp = self.emb_layer(ans_b[:, :-1]) + ans_pos[:, :-1]
        enc_out = self.encoder(q_emb_inp)
        mask = get_subsequent_mask(ans_b[:, :-1])
        dec_out = self.decoder(a_emb_inp, enc_out, mask)
        return dec_out.reshape(-1, dec_out.shape[2])


class AddSubDataset(Dataset):
    def __init__(self, input_seqs, target_seqs, convert_str_to_tokens, special_tokens, emb_dim, pos_encode):
        self.input_seqs = input_seqs
        self.target_seqs = target_seqs
        self.convert_str_to_tokens = convert_str_to_tokens
        self.special_tokens = special_tokens
        self.emb_dim = emb_dim
        self.pos_encode = pos_encode

    def preprocess(self, inp):
        return torch.tensor(prepocess_input_sequence(inp, self.convert_str_to_tokens, self.special_tokens))

    def __getitem__(self, idx):
        inp = self.preprocess(self.input_seqs[idx])
        out = self.preprocess(self.target_seqs[idx])
        return inp, self.pos_encode(len(inp), self.emb_dim)[0], out, self.pos_encode(len(out), self.emb_dim)[0]

    def __len__(self):
        return len(self.input_seqs)


def LabelSmoothingLoss(pred, ground):
    ground = ground.contiguous().view(-1)
    eps = 0.1
    n_class = pred.size(1)
    one_hot = F.one_hot(ground).to(pred.dtype)
    one_hot = one_hot * (1 - eps) + (1 - one_hot) * eps / (n_class - 1)
    log_prb = F.log_softmax(pred, dim=1)
    return -(one_hot * log_prb).sum(dim=1).sum()
