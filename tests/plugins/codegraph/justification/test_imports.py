"""The names that a file imports."""

from __future__ import annotations

import pytest

from plugins.codegraph.justification.imports import bindings_of

PYTHON = """import os, numpy as np
from flask import (
    Flask,  # the framework
    request as req,
)
from . import db
    from late import thing
"""
SCRIPT = """import express, { Router as R, type Request } from 'express';
import * as jwt from "jsonwebtoken";
const { readFile } = require('fs');
"""
GO = """import (
\t"net/http"
\tmux "github.com/gorilla/mux/v2"
)
import "fmt"
"""


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        (
            "python",
            PYTHON,
            {
                ("os", "os", "", 1),
                ("np", "numpy", "", 1),
                ("Flask", "flask", "Flask", 2),
                ("req", "flask", "request", 2),
                ("db", ".", "db", 6),
                ("thing", "late", "thing", 7),
            },
        ),
        (
            "typescript",
            SCRIPT,
            {
                ("express", "express", "", 1),
                ("R", "express", "Router", 1),
                ("Request", "express", "Request", 1),
                ("jwt", "jsonwebtoken", "", 2),
                ("readFile", "fs", "readFile", 3),
            },
        ),
        (
            "go",
            GO,
            {
                ("http", "net/http", "", 1),
                ("mux", "github.com/gorilla/mux/v2", "", 1),
                ("fmt", "fmt", "", 5),
            },
        ),
        (
            "java",
            "import java.sql.Connection;\nimport java.util.*;\n",
            {("Connection", "java.sql", "Connection", 1)},
        ),
        (
            "rust",
            "use serde::{Serialize, Deserialize as De};\n",
            {("Serialize", "serde", "Serialize", 1), ("De", "serde", "Deserialize", 1)},
        ),
        ("markdown", "import os", set()),
    ],
)
def test_each_language_says_what_a_name_stands_for(
    language: str, text: str, found: set[tuple[str, str, str, int]]
) -> None:
    assert {
        (each.local, each.module, each.name, each.line) for each in bindings_of(text, language)
    } == found
