"""Public headers -> pages in reStructuredText, one per header, for Sphinx's C domain.

A comment belongs to the declarations that follow it without an empty line; one on the line
of a declaration belongs to that one. Names of okra in comments become links.
"""
import re
import textwrap

_GUARD = re.compile(r'#ifdef __cplusplus\n(extern "C" \{|\})\n#endif\n')
_NOISE = re.compile(r"\b(OKRA_API|OKRA_EXPERIMENTAL|OKRA_CHECK|OKRA_PRINTF\([^)]*\))\s*")


def pieces(text):
    """("comment", text), ("gap", ""), ("code", text) and ("macro", text) in order."""
    text = _GUARD.sub("", text)
    place = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<macro>#(?:[^\n]*\\\n)*[^\n]*)"
                       r"|(?P<gap>\n[ \t]*\n)|(?P<space>\s+)", re.S)
    at = 0
    while at < len(text):
        found = place.match(text, at)
        if found:
            if found.lastgroup != "space":
                yield found.lastgroup, found.group()
            at = found.end()
            continue
        end, depth = at, 0
        while depth or text[end] != ";":
            if text.startswith("/*", end):
                end = text.index("*/", end) + 1
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield "code", text[at:end + 1]
        at = end + 1


def plain(comment):
    """The text of a comment, its stars and dashes gone."""
    body = re.sub(r"^/\*+|\*/$", "", comment.strip())
    lines = [re.sub(r"^ \* ?", "", line.rstrip()) if k else line.strip()
             for k, line in enumerate(body.split("\n"))]
    return "\n".join(lines).strip("\n").rstrip()


def marked(text, known):
    """A line of prose: its marks of reStructuredText escaped, code and names set off."""
    out = []
    for k, part in enumerate(re.split(r"`([^`]*)`", text)):
        if k % 2:
            out.append(f"``{part}``")
            continue
        part = re.sub(r"([\\*|_])", r"\\\1", part)
        part = re.sub(r"okra(?:\\_[a-z0-9]+)+", lambda m: reference(m.group(), known), part)
        out.append(part)
    return "".join(out)


def reference(escaped, known):
    name = escaped.replace("\\_", "_")
    if name in known:
        return f":c:{known[name]}:`{name}`\\ "
    return f"``{name}``\\ "


def prose(text, known):
    """Paragraphs; lines that are set further in stay as they are."""
    out = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        while lines:
            n = next((i for i, line in enumerate(lines) if line.startswith("  ")), len(lines))
            if n:
                out.append(marked(" ".join(line.strip() for line in lines[:n]), known))
                lines = lines[n:]
                continue
            n = next((i for i, line in enumerate(lines) if not line.startswith("  ")),
                     len(lines))
            code = textwrap.dedent("\n".join(lines[:n]))
            out.append(".. code-block:: none\n\n" + textwrap.indent(code, "   "))
            lines = lines[n:]
    return "\n\n".join(out)


def squeeze(code):
    return re.sub(r"\s+", " ", _NOISE.sub("", re.sub(r"/\*.*?\*/", " ", code, flags=re.S))
                  ).strip().rstrip(";").strip()


def kind_and_name(code):
    """(role, name, what to declare) of a declaration, or None."""
    flat = squeeze(code)
    head = flat.split("{")[0]
    for what in ("enum", "struct"):
        found = re.match(rf"(?:typedef )?{what}\s+(\w+)\s*\{{", flat)
        if found:
            return what, found.group(1), found.group(1)
    found = re.match(r"typedef .*\(\*(\w+)\)", head)
    if found:
        return "type", found.group(1), flat.replace("typedef ", "", 1)
    found = re.match(r"typedef .*\b(\w+)$", head)
    if found:
        alias = re.match(r"typedef struct (\w+) \1$", head)
        return "type", found.group(1), found.group(1) if alias else flat.replace(
            "typedef ", "", 1)
    found = re.match(r".*?\b(\w+)\(", head)
    if found:
        return "func", found.group(1), flat
    found = re.match(r"enum\s*\{", flat)
    return ("enum", None, None) if found else None


def members(code, what, known):
    """The fields of a structure, the values of an enumeration, with their comments."""
    body = code[code.index("{") + 1:code.rindex("}")]
    body = re.sub(r"^#.*\n", "", body, flags=re.M)
    out, before = [], None
    separator = ";" if what == "struct" else ","
    for found in re.finditer(rf"/\*.*?\*/|[^{separator}/]+{separator}?", body, flags=re.S):
        token = found.group()
        if token.startswith("/*"):
            text = re.sub(r"\s+", " ", plain(token)).strip()
            if out and "\n" not in body[out[-1][2]:found.start()]:
                out[-1][1] = text
            else:
                before = text
        elif token.strip(" \n\t" + separator):
            out.append([squeeze(token.rstrip(separator)), before or "", found.end()])
            before = None
    for name, text, _ in out:
        if re.fullmatch(r"[A-Z0-9_]+\(\w+\)", name):  # a list that a macro makes
            continue
        if what == "struct":
            one, *others = name.split(",") if "(" not in name else [name]
            kind = re.match(r".*[\s*](?=\w+(\[.*)?$)", one).group()
            heads = [one] + [kind + other.strip() for other in others]
        else:
            heads = [name.split("=")[0].strip()]
        for head in heads:
            yield f".. c:{'member' if what == 'struct' else 'enumerator'}:: {head}", \
                marked(text, known)


def declared(texts):
    """Role of every name in all headers."""
    known = {}
    for text in texts:
        for kind, code in pieces(text):
            found = kind_and_name(code) if kind == "code" else None
            if found and found[1]:
                known.setdefault(found[1], found[0])
    return known


def entry(code, comment, known):
    what, name, declaration = kind_and_name(code)
    directive = {"func": "function", "type": "type"}.get(what, what)
    if name is None:  # constants without a name
        inside = "\n\n".join(f"{head.replace('enumerator', 'macro')}\n\n   {text}"
                             for head, text in members(code, "enum", known))
        return (comment + "\n\n" if comment else "") + inside
    lines = [f".. c:{directive}:: {declaration}", ""]
    if comment:
        lines += [textwrap.indent(comment, "   "), ""]
    if what in ("enum", "struct") and "{" in code:
        for head, text in members(code, what, known):
            lines += [f"   {head}", "", f"      {text}", ""]
    return "\n".join(lines)


def page(name, text, known):
    """The page of one header."""
    parts = list(pieces(text))
    title = f"okra/{name}"
    out = [title, "=" * len(title), ""]
    first = plain(parts[0][1])
    first = re.sub(rf"^okra/{re.escape(name)}: *", "", first)
    out += [prose(first[:1].upper() + first[1:], known), "",
            ".. code-block:: c", "", f"   #include <okra/{name}>", ""]
    comment, parts = "", parts[1:]
    for k, (kind, piece) in enumerate(parts):
        if kind == "comment":
            body = plain(piece)
            section = re.fullmatch(r"-{2,}\s*(.*?)\s*-*", body)
            if section:
                heading = section.group(1)
                out += [heading[:1].upper() + heading[1:], "-" * len(heading), ""]
                continue
            comment = prose(body, known)
        elif kind == "gap":
            if comment:
                out += [comment, ""]
            comment = ""
        elif kind == "code" and kind_and_name(piece):
            out += [entry(piece, comment, known), ""]
            comment = ""
        elif kind == "macro" and "OKRA_STATUS_LIST" in piece and piece.startswith("#define"):
            out += [".. list-table:: Status codes", ""]
            for symbol, meaning in re.findall(r'X\((\w+), "([^"]*)"\)', piece):
                out += [f"   * - ``{symbol}``", f"     - {meaning}"]
            out.append("")
            comment = ""
        elif kind == "macro":
            comment = ""
    return "\n".join(out) + "\n"
