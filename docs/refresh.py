"""Run the commands of the manual again and put what they print into its pages.

Usage: ``python docs/refresh.py docs/tutorial.md ...``; then read the difference.

In ``console`` blocks, lines that begin with ``$`` are commands. The commands of a page
run one after the other in an empty folder. Code blocks with a caption are files in that
folder, and pictures and reports of the page that the commands write are copied from there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

FILE = re.compile(r"^```\{code-block\}[^\n]*\n:caption: (\S+)\n\n(.*?)^```$", re.M | re.S)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"""(?:\]\(|href=")((?:\.\./)*(?:images|_static)/([^\s")]+))""")


def refresh(page: Path) -> None:
    """Rewrite one page."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for found in FILE.finditer(text):
            (folder / found[1]).write_text(found[2], encoding="utf-8")
        text = CONSOLE.sub(lambda block: _run_block(block[1], folder), text)
        for path, picture in PICTURE.findall(text):
            if (folder / picture).is_file():
                shutil.copyfile(folder / picture, page.parent / path)
    page.write_text(text, encoding="utf-8")


def _run_block(block: str, folder: Path) -> str:
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block, re.M)
    shown = "".join(f"$ {command}\n{_run(command, folder)}" for command in commands)
    return f"```console\n{shown}```"


def _run(command: str, folder: Path) -> str:
    print("+", command, file=sys.stderr)
    done = subprocess.run(
        ["bash", "-c", f'PATH="{sysconfig.get_path("scripts")}:$PATH"\n{command}'],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout if not done.stdout or done.stdout.endswith("\n") else done.stdout + "\n"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(argument))
