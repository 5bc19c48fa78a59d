"""The forward pass of all-MiniLM-L6-v2 in numpy: six layers of attention, then the mean of all pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memoranda.search.embedders.port import Matrix
from memoranda.search.embedders.weights import Array
from memoranda.search.embedders.wordpiece import PAD

DIMENSIONS: Final = 384
LAYERS: Final = 6
HEADS: Final = 12
BATCH: Final = 32
"""Texts that are read together; of like length, so that little is padding."""

_HEAD: Final = DIMENSIONS // HEADS
_EPSILON: Final = np.float32(1e-12)
_NOWHERE: Final = np.float32(-1e9)
_TANH_SCALE: Final = np.float32(np.sqrt(2 / np.pi))
_TANH_CUBE: Final = np.float32(0.044715)


@dataclass(frozen=True, slots=True)
class Norm:
    weight: Matrix
    bias: Matrix


@dataclass(frozen=True, slots=True)
class Dense:
    weight: Matrix
    bias: Matrix


@dataclass(frozen=True, slots=True)
class Layer:
    """What one layer has learned; query, key and value are one matrix."""

    attention: Dense
    mixed: Dense
    attention_norm: Norm
    inner: Dense
    outer: Dense
    norm: Norm


@dataclass(frozen=True, slots=True)
class MiniLM:
    """The model's numbers. Word rows stay as bytes, each with its scale."""

    words: Array
    word_scales: Matrix
    places: Matrix
    norm: Norm
    layers: Sequence[Layer]


def load(arrays: Mapping[str, Array]) -> MiniLM:
    """Arrange the stored arrays. Raises `KeyError` or `ValueError` where they are not this model's."""
    matrices = [
        _floats(array) * _floats(arrays[name.removesuffix("_q") + "_scale"])
        for name, array in arrays.items()
        if name.startswith("val_") and name.endswith("_q")
    ]
    if len(matrices) != 6 * LAYERS:
        raise ValueError("The file does not hold the matrices of six layers.")
    root = "inner.embeddings."
    places = _floats(arrays[root + "position_embeddings.weight_q"]) * _floats(
        arrays[root + "position_embeddings.weight_scale"]
    )
    return MiniLM(
        words=arrays[root + "word_embeddings.weight_q"],
        word_scales=_floats(arrays[root + "word_embeddings.weight_scale"]),
        places=places + _floats(arrays[root + "token_type_embeddings.weight"])[0],
        norm=_norm(arrays, root + "LayerNorm"),
        layers=[_layer(arrays, n, matrices[6 * n : 6 * n + 6]) for n in range(LAYERS)],
    )


def _layer(arrays: Mapping[str, Array], number: int, matrices: Sequence[Matrix]) -> Layer:
    root = f"inner.encoder.layer.{number}."
    query, key, value, mixed, inner, outer = matrices
    parts = [_floats(arrays[f"{root}attention.self.{name}.bias"]) for name in _ASKED]
    return Layer(
        Dense(np.concatenate([query, key, value], axis=1), np.concatenate(parts)),
        Dense(mixed, _floats(arrays[root + "attention.output.dense.bias"])),
        _norm(arrays, root + "attention.output.LayerNorm"),
        Dense(inner, _floats(arrays[root + "intermediate.dense.bias"])),
        Dense(outer, _floats(arrays[root + "output.dense.bias"])),
        _norm(arrays, root + "output.LayerNorm"),
    )


_ASKED: Final = ("query", "key", "value")


def _norm(arrays: Mapping[str, Array], root: str) -> Norm:
    return Norm(_floats(arrays[root + ".weight"]), _floats(arrays[root + ".bias"]))


def _floats(array: Array) -> Matrix:
    return np.asarray(array, dtype=np.float32)


def encode(model: MiniLM, texts: Sequence[Sequence[int]]) -> Matrix:
    """Return one row of length 1 per sequence of pieces, in their order."""
    rows = np.zeros((len(texts), DIMENSIONS), np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        rows[places] = _batch(model, [texts[place] for place in places])
    return rows


def _batch(model: MiniLM, texts: Sequence[Sequence[int]]) -> Matrix:
    length = max(map(len, texts))
    pieces = np.array([[*text, *[PAD] * (length - len(text))] for text in texts])
    present = np.array([[place < len(text) for place in range(length)] for text in texts])
    absent = np.where(present, np.float32(0), _NOWHERE)[:, None, None, :]
    state = _floats(model.words[pieces]) * model.word_scales[pieces] + model.places[:length]
    state = _normalize(state, model.norm)
    for layer in model.layers:
        state = _normalize(
            state + _apply(layer.mixed, _attend(layer, state, absent)), layer.attention_norm
        )
        inner = _gelu(_apply(layer.inner, state))
        state = _normalize(state + _apply(layer.outer, inner), layer.norm)
    means = np.einsum("blh,bl->bh", state, _floats(present))
    return _floats(means / np.linalg.norm(means, axis=1, keepdims=True))


def _attend(layer: Layer, state: Matrix, absent: Matrix) -> Matrix:
    count, length, _ = state.shape
    asked = _apply(layer.attention, state).reshape(count, length, 3, HEADS, _HEAD)
    query, key, value = asked.transpose(2, 0, 3, 1, 4)
    weights = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(_HEAD)) + absent
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return _floats((weights @ value).transpose(0, 2, 1, 3).reshape(count, length, DIMENSIONS))


def _apply(dense: Dense, state: Matrix) -> Matrix:
    """One product over all pieces of all texts, which is much quicker than one for each text."""
    flat = state.reshape(-1, state.shape[-1]) @ dense.weight + dense.bias
    return flat.reshape(*state.shape[:-1], -1)


def _normalize(state: Matrix, norm: Norm) -> Matrix:
    centered = state - state.mean(axis=-1, keepdims=True)
    variance = np.square(centered).mean(axis=-1, keepdims=True)
    return _floats(centered / np.sqrt(variance + _EPSILON) * norm.weight + norm.bias)


def _gelu(state: Matrix) -> Matrix:
    """The usual approximation by a hyperbolic tangent, which is near enough to the exact curve."""
    bent = np.tanh(_TANH_SCALE * (state + _TANH_CUBE * state * state * state))
    return _floats(np.float32(0.5) * state * (np.float32(1) + bent))
