# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Colours for MLIR, which Pygments has no lexer for."""

from pygments.lexer import RegexLexer, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
)


class MlirLexer(RegexLexer):
    name = "MLIR"
    aliases = ["mlir"]
    filenames = ["*.mlir"]

    tokens = {
        "root": [
            (r"\s+", Text),
            (r"//.*$", Comment.Single),
            (r'"(\\.|[^"\\])*"', String),
            (r"%[\w$.-]+(:\d+)?(#\d+)?", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"[#!][\w$.]+", Name.Decorator),
            (words(("tensor", "memref", "vector"), suffix=r"(?=<)"), Keyword.Type),
            # Extents and the element type that follows them: ?x5120xbf16.
            (r"(?<=[<x])(\d+|\?)x", Number),
            (r"\b(index|none|[su]?i\d+|bf16|f\d+\w*)\b", Keyword.Type),
            (r"\b(true|false|unit|affine_map|dense|ins|outs|groups)\b", Keyword),
            (r"-?\d+(\.\d+)?([eE][-+]?\d+)?|0x[0-9A-Fa-f]+", Number),
            (r"[a-z_][\w$]*(\.[\w$]+)+", Name.Builtin),
            (r"[A-Za-z_][\w$]*", Name),
            (r"->|[=*+?-]", Operator),
            (r"[^\w\s]", Punctuation),
        ]
    }
