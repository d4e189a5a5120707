# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A public C header as a page of Markdown.

Sections are those of the header's banners. A function becomes a directive of
Sphinx's C domain, which indexes it; types, enumerations and macros are shown as
they are written, with their comments.
"""

import re

RULE = re.compile(r"//===-+===//")
EXPORT = re.compile(r"\b(GQ_EXPORT|MLIR_CAPI_EXPORTED|GQ_INLINE)\s+")
ATTRIBUTE = re.compile(r"\s*__attribute__\(\(.*\)\)", re.DOTALL)
FUNCTION = re.compile(r"^[\w\s*]+?\b(\w+)\(")


def _prose(lines):
    """Comment lines as a paragraph of Markdown."""
    text = "\n".join(lines)
    # Names of functions and constants are written bare; nothing in them is Markdown.
    return re.sub(r"(?<![`\w])([*_<\[])", r"\\\1", text)


def _declarations(lines):
    """Splits the body of a header into (kind, lines), in order."""
    doc, at = [], 0
    while at < len(lines):
        line = lines[at]
        if RULE.match(line):
            yield "section", [lines[at + 1].removeprefix("// ")]
            at += 3
        elif line.startswith("///"):
            doc.append(line[3:].removeprefix(" "))
            at += 1
        elif line.startswith("//"):
            text = []
            while at < len(lines) and lines[at].startswith("//"):
                text.append(lines[at][2:].removeprefix(" "))
                at += 1
            yield "text", text
        elif line.startswith("#define"):
            macro = [line]
            while macro[-1].endswith("\\"):
                at += 1
                macro.append(lines[at])
            at += 1
            if doc:
                yield "doc", doc
                yield "code", macro
            doc = []
        elif not line or line.startswith(("#", 'extern "C"')) or line == "}":
            at += 1
        else:
            code, depth = [], 0
            while True:
                code.append(lines[at])
                if not lines[at].startswith("#"):
                    depth += lines[at].count("{") - lines[at].count("}")
                last = lines[at].split("//")[0].rstrip()
                at += 1
                if depth == 0 and last.endswith((";", "}")):
                    break
            yield "doc", doc
            yield "code", code
            doc = []


def _code(lines):
    return ["```c", *lines, "```", ""]


def markdown(text):
    """The page of the header with this text, below its title."""
    banner, body = re.split(r"^#define \w+_H\n", text, maxsplit=1, flags=re.MULTILINE)
    intro = [x[2:].removeprefix(" ") for x in banner.split("\n") if x.startswith("//")]
    # Without the first line, the two of the license, and the rule at the end.
    out = [_prose(x for x in intro[4:] if not x.startswith("===")), ""]
    doc = []
    for kind, lines in _declarations(body.split("\n")):
        if kind == "section":
            out += ["## " + lines[0], ""]
        elif kind == "text":
            out += [_prose(lines), ""]
        elif kind == "doc":
            doc = lines
        else:
            whole = EXPORT.sub("", ATTRIBUTE.sub("", "\n".join(lines)))
            function = FUNCTION.match(whole)
            if function and not whole.startswith(("#", "typedef")):
                signature = " ".join(whole.split("{")[0].rstrip(" ;").split())
                if re.match(r"[A-Z_]+\(", signature):  # a macro that declares
                    out += [_prose(doc), "", *_code(lines)]
                    continue
                out += [f"::::{{c:function}} {signature}", _prose(doc), "::::", ""]
            else:
                out += [_prose(doc), "", *_code(EXPORT.sub("", x) for x in lines)]
    return "\n".join(out)
