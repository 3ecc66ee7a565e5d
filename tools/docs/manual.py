"""The manual page (`okra help --man`) -> pages in Markdown, one per command."""
import re


def text(line):
    """A line of the manual page as Markdown."""
    line = line.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\").replace("\\(aq", "'")
    bold = re.sub(r"\\fB(.*?)\\fR", r"\1", line)
    return re.sub(r"\\f[BIR]", "", bold)


def escape(line):
    return re.sub(r"([\\`*_{}\[\]<>|#~$])", r"\\\1", line)


def unquote(argument):
    return text(argument.strip()).strip('"')


def sections(manual):
    """(command, usage, lines) of every command; of the other headings (None, title, lines)."""
    part = None
    for line in manual.splitlines():
        if line.startswith((".SH ", ".SS ")):
            if part:
                yield part
            title = unquote(line[4:])
            command = title.split()[1] if line.startswith(".SS okra") or \
                title.startswith("okra ") else None
            part = (command if line.startswith(".SS") else None, title, [])
        elif part:
            part[2].append(line)
    if part:
        yield part


def body(lines):
    """Markdown of the lines of one section."""
    out, code, k = [], False, 0
    while k < len(lines):
        line = lines[k]
        k += 1
        if line == ".nf":
            code = True
            out += ["", "```sh"]
        elif line == ".fi":
            code = False
            out += ["```", ""]
        elif line in (".RS", ".RE"):
            continue
        elif line == ".PP":
            out.append("")
        elif line == ".TP":
            term, meaning = text(lines[k]), []
            k += 1
            while k < len(lines) and not lines[k].startswith("."):
                meaning.append(text(lines[k]))
                k += 1
            out += ["", f"`{term}`", ": " + escape(" ".join(meaning)), ""]
        elif line.startswith((".B ", ".I ")):
            out.append(escape(text(line[3:])))
        elif line.startswith(".BR "):
            out.append(escape(text(line[4:].replace(" (", "("))))
        elif line.startswith("."):
            raise ValueError(f"the manual page has {line!r}, which no rule here reads")
        else:
            out.append(text(line) if code else escape(text(line)))
    return "\n".join(out).strip("\n")


def pages(manual):
    """Name of the page -> Markdown."""
    made, rest = {}, []
    for command, title, lines in sections(manual):
        if command:
            made[command] = f"# okra {command}\n\n```text\n{title}\n```\n\n{body(lines)}\n"
        elif title not in ("NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS"):
            rest.append(f"## {title.capitalize()}\n\n{body(lines)}\n")
    return made, "\n".join(rest)
