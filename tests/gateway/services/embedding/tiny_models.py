"""Tiny BERT models that the tests make, to run the real code without a real model."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from gateway.services.embedding.bert_onnx import BertShape, build

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "porch", "door", "garden", "wallet", "hat", "river")
TINY = BertShape(layers=2, heads=2, hidden=8, epsilon=1e-12)


def tiny_weights(seed: int = 0) -> dict[str, Any]:
    """Random weights, named as in a real model."""
    rng = np.random.default_rng(seed)
    tensors: dict[str, Any] = {}

    def dense(name: str, inputs: int, outputs: int) -> None:
        tensors[f"{name}.weight"] = rng.normal(size=(outputs, inputs)).astype("f4")
        tensors[f"{name}.bias"] = rng.normal(size=outputs).astype("f4")

    def norm(name: str) -> None:
        tensors[f"{name}.weight"] = rng.normal(size=8).astype("f4")
        tensors[f"{name}.bias"] = rng.normal(size=8).astype("f4")

    for table, size in (("word", len(WORDS)), ("position", 32), ("token_type", 2)):
        table_name = f"embeddings.{table}_embeddings.weight"
        tensors[table_name] = rng.normal(size=(size, 8)).astype("f4")
    norm("embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(TINY.layers)):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense(f"{layer}.attention.{part}", 8, 8)
        norm(f"{layer}.attention.output.LayerNorm")
        dense(f"{layer}.intermediate.dense", 8, 16)
        dense(f"{layer}.output.dense", 16, 8)
        norm(f"{layer}.output.LayerNorm")
    return tensors


def tiny_mpnet_weights(seed: int = 0) -> dict[str, Any]:
    """The same, named as in an MPNet, with positions for 16 tokens and 32 kinds of distance."""
    rng = np.random.default_rng(seed)
    renamed = {
        "attention.self.query": "attention.attn.q",
        "attention.self.key": "attention.attn.k",
        "attention.self.value": "attention.attn.v",
        "attention.output.dense": "attention.attn.o",
        "attention.output.LayerNorm": "attention.LayerNorm",
    }
    tensors = tiny_weights(seed)
    del tensors["embeddings.token_type_embeddings.weight"]
    tensors["embeddings.position_embeddings.weight"] = rng.normal(size=(18, 8)).astype("f4")
    tensors["encoder.relative_attention_bias.weight"] = rng.normal(size=(32, 2)).astype("f4")
    for old, new in renamed.items():
        tensors = {name.replace(old, new): value for name, value in tensors.items()}
    return tensors


def write_tokenizer(directory: Path, max_tokens: int = 16) -> None:
    """A tokenizer of whole words, with the usual special tokens."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    settings = {"model_max_length": max_tokens}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings))


def sentence_encoder(directory: Path, seed: int = 0) -> Path:
    """A directory with a tiny sentence encoder of 8 dimensions."""
    directory.mkdir(parents=True)
    onnx.save(build(TINY, tiny_weights(seed)), directory / "model.onnx")
    write_tokenizer(directory)
    return directory


def token_encoder(directory: Path) -> Path:
    """The same as a model that leaves the pooling to its user: one vector a token."""
    directory = sentence_encoder(directory)
    model = onnx.load(directory / "model.onnx")
    last = [node for node in model.graph.node if node.op_type == "LayerNormalization"][-1]
    output = helper.make_tensor_value_info(last.output[0], TensorProto.FLOAT, ("n", "t", 8))
    del model.graph.output[:]
    model.graph.output.append(output)
    onnx.save(model, directory / "model.onnx")
    return directory


def cross_encoder(directory: Path) -> Path:
    """A directory with a tiny cross-encoder: how many of the passage's words are "porch".

    Its logit is 2 for each "porch" in the second text, less 1.
    """
    directory.mkdir(parents=True)
    nodes = [
        helper.make_node("Equal", ["input_ids", "porch"], ["is_porch"]),
        helper.make_node("Cast", ["is_porch"], ["found"], to=TensorProto.INT64),
        helper.make_node("Mul", ["found", "token_type_ids"], ["in_passage"]),
        helper.make_node("Mul", ["in_passage", "attention_mask"], ["real"]),
        helper.make_node("ReduceSum", ["real", "axis"], ["count"], keepdims=1),
        helper.make_node("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["number", "two"], ["doubled"]),
        helper.make_node("Sub", ["doubled", "one"], ["logits"]),
    ]
    names = ("input_ids", "attention_mask", "token_type_ids")
    constants = {
        "porch": np.array(WORDS.index("porch")),
        "axis": np.array([1]),
        "two": np.array(2, dtype="f4"),
        "one": np.array(1, dtype="f4"),
    }
    graph = helper.make_graph(
        nodes,
        "counts_porches",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ("n", "t")) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ("n", 1))],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opset = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), directory / "model.onnx")
    write_tokenizer(directory)
    return directory
