"""Every link of a page to a file of the repository leads to one; README.md is at most 150 lines."""
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
found, count = [], 0
for page in pages:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            continue
        count += 1
        target = os.path.normpath(page.parent / unquote(link.split("#")[0]))
        if not os.path.exists(target):
            found.append(f"{page.relative_to(ROOT)}: {link} leads nowhere")
lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
if lines > 150:
    found.append(f"README.md has {lines} lines, 150 at most")
assert len(pages) > 20 and count > 50, (len(pages), count)
print("\n".join(found) if found else f"{count} links in {len(pages)} pages")
sys.exit(bool(found))
