"""Models that fastembed knows by name. Importing it takes a second, so it is done at need."""

from __future__ import annotations

from typing import Any

from gateway.contract.suggestions import nearest
from gateway.services.embedding.model_files import ModelUnavailable, models_directory
from gateway.services.embedding.packaged_models import PACKAGED
from gateway.toolkit.reasons import said_by

_FETCHED_BY = {
    "TextEmbedding": "gateway.services.embedding.service",
    "TextCrossEncoder": "gateway.services.embedding.reranker",
}
_WORDS = {
    "TextEmbedding": (*PACKAGED, "none"),
    "TextCrossEncoder": ("none",),
}
"""What stands for a model in portal.yaml, and is none of fastembed's."""

_HOW_TO_FETCH = (
    "It takes a network; HTTPS_PROXY names a proxy, and HF_ENDPOINT a mirror of Hugging Face. Or "
    "copy a directory with model.onnx and tokenizer.json from another machine, and name that."
)


def open_fastembed(name: str, *, fetch: bool, kind: str = "TextEmbedding") -> Any:
    """Open a fastembed model by name.

    Args:
        name: a name of fastembed's own list.
        fetch: whether missing files are downloaded; otherwise their absence fails at once.
        kind: ``TextEmbedding``, or ``TextCrossEncoder`` for a reranker.

    Raises:
        ModelUnavailable: fastembed does not know the name, or its files cannot be had.
    """
    import fastembed
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    classes: dict[str, Any] = {
        "TextEmbedding": fastembed.TextEmbedding,
        "TextCrossEncoder": TextCrossEncoder,
    }
    chosen = classes[kind]
    known = [entry["model"] for entry in chosen.list_supported_models()]
    if name.lower() not in (entry.lower() for entry in known):
        meant = nearest(name, (*_WORDS[kind], *known))
        raise ModelUnavailable(
            f"fastembed knows no model {name!r}{meant or '.'} Names are, for example: "
            f"{', '.join(known[:5])}."
        )
    try:
        return chosen(name, cache_dir=str(models_directory()), local_files_only=not fetch)
    except Exception as error:  # fastembed raises what its many sources raise
        if fetch:
            raise ModelUnavailable(
                f"The model {name!r} could not be fetched to {models_directory()}: "
                f"{said_by(error).rstrip('.')} (its log, above, may say more). {_HOW_TO_FETCH}"
            ) from error
        raise ModelUnavailable(
            f"The model {name!r} is not in {models_directory()}. Fetch it once, with a network: "
            f"python -m {_FETCHED_BY[kind]} {name}"
        ) from error
