"""The corpus of a guided campaign on disk: cases as text, which the next campaign begins with."""

import hashlib
from pathlib import Path

from irkit.core import atomic_write
from irkit.fuzz.campaign.draw import Draw, case_text, read_draw
from irkit.fuzz.guidance.corpus import MOST_CASES, CoverageCorpus


def read_explored(folder: Path) -> tuple[Draw, ...]:
    """Read the cases of a folder, at most as many as a corpus has.

    Raises: FormatError if a file is not a case; OSError.
    """
    return tuple(read_draw(path) for path in sorted(folder.glob("*.toml"))[:MOST_CASES])


def write_explored(folder: Path, corpus: CoverageCorpus) -> None:
    """Write the cases of a corpus, and remove those that are no longer in it: what they reached,
    others reach too.

    Raises: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = dict(_named(text) for text in _texts(corpus))
    for path in folder.glob("*.toml"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        if not (folder / name).exists():
            with atomic_write(folder / name) as made:
                made.write_text(text, "utf-8")


def _texts(corpus: CoverageCorpus) -> list[str]:
    return [
        case_text(Draw(kind, 0, 0, choices=case.chosen, changes=case.changes))
        for kind, cases in corpus.cases.items()
        for case in cases
    ]


def _named(text: str) -> tuple[str, str]:
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.toml", text
