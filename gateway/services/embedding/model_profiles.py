"""How sentence encoders want to be used: which vector stands for a text, what is put before it.

A model that was trained with prefixes, or on its first token, gives poor vectors without them, and
no error. What a directory's own files say counts (those of sentence-transformers); else the family
that its name shows, as the authors describe it on the model's card; else the plain mean.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gateway.services.embedding.sample_texts import sample_texts

Pooling = Literal["mean", "cls", "last"]


@dataclass(frozen=True, slots=True)
class Profile:
    """How a model is used.

    Attributes:
        pooling: of a model with one vector a token, which stands for the text: the mean of the real
            tokens, the first one, or the last one.
        query: what is put before a question.
        passage: what is put before a stored text.
        centred: whether its vectors all point one way, and are brought apart (``centring.py``).
    """

    pooling: Pooling = "mean"
    query: str = ""
    passage: str = ""
    centred: bool = False

    @property
    def mark(self) -> str:
        """What tells vectors made so from those made otherwise; empty for the plain mean."""
        if self == Profile():
            return ""
        made = {key: value for key, value in asdict(self).items() if key != "centred"}
        if self.centred:
            made["centred"] = sample_texts()
        return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:6]


_SENTENCE = "Represent this sentence for searching relevant passages: "
_FAMILIES: tuple[tuple[str, Profile], ...] = (
    # Instructed before plain: their names hold both.
    (
        r"e5-.*instruct",
        Profile(
            query="Instruct: Given a web search query, retrieve relevant passages that answer "
            "the query\nQuery: ",
            centred=True,
        ),
    ),
    (r"\be5\b", Profile(query="query: ", passage="passage: ", centred=True)),
    (r"bge-m3", Profile("cls")),
    (
        r"bge-.*\bzh\b",
        Profile(
            "cls",
            query="\u4e3a\u8fd9\u4e2a\u53e5\u5b50\u751f\u6210\u8868\u793a"
            "\u4ee5\u7528\u4e8e\u68c0\u7d22\u76f8\u5173\u6587\u7ae0\uff1a",
        ),
    ),
    (r"\bbge\b", Profile("cls", query=_SENTENCE)),
    (r"arctic-embed-.*v2", Profile("cls", query="query: ")),
    (r"arctic-embed", Profile("cls", query=_SENTENCE)),
    (r"mxbai-embed", Profile("cls", query=_SENTENCE)),
    (r"nomic-embed", Profile(query="search_query: ", passage="search_document: ")),
    (
        r"embeddinggemma",
        Profile(query="task: search result | query: ", passage="title: none | text: "),
    ),
    (
        r"qwen3-embedding",
        Profile(
            "last",
            query="Instruct: Given a web search query, retrieve relevant passages that answer "
            "the query\nQuery:",
        ),
    ),
    (r"gte-.*v1\.5|gte-multilingual|gte-modernbert", Profile("cls")),
    (r"granite-embedding", Profile("cls")),
)


def of_name(name: str) -> Profile:
    """The profile of the family that a model's name shows.

    Args:
        name: such as ``intfloat/multilingual-e5-small``, in any case.
    """
    lowered = name.lower().replace("_", "-")
    return next((one for form, one in _FAMILIES if re.search(form, lowered)), Profile())


def of_directory(directory: Path) -> Profile:
    """The profile of a local model: what its files say, else its family's.

    Args:
        directory: the model's; ``1_Pooling/config.json`` and
            ``config_sentence_transformers.json`` are read where they are there.
    """
    name = str(_read(directory / "config.json").get("_name_or_path", ""))
    profile = of_name(directory.name)
    if profile == Profile():
        profile = of_name(name)
    if pooling := _pooling(_read(directory / "1_Pooling" / "config.json")):
        profile = replace(profile, pooling=pooling)
    prompts = _read(directory / "config_sentence_transformers.json").get("prompts") or {}
    query = prompts.get("query") or profile.query
    passage = prompts.get("document") or prompts.get("passage") or profile.passage
    return replace(profile, query=str(query), passage=str(passage))


def _pooling(stated: Mapping[str, Any]) -> Pooling | None:
    if stated.get("pooling_mode_cls_token") or stated.get("pooling_mode") == "cls":
        return "cls"
    if stated.get("pooling_mode_lasttoken") or stated.get("pooling_mode") == "lasttoken":
        return "last"
    if stated.get("pooling_mode_mean_tokens") or stated.get("pooling_mode") == "mean":
        return "mean"
    return None


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
