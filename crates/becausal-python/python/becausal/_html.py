"""What notebooks show: words and pictures that need no script and no style sheet of their own.

Text takes the colours of the page. Pictures are drawn for a light ground and keep one, so that they can be
read on a dark page too.
"""

from __future__ import annotations

from html import escape
from typing import Any

_CARD = "max-width:62rem;line-height:1.5"
_PICTURE = "background:#ffffff;border-radius:8px;padding:6px;margin:.6rem 0;overflow-x:auto;color:#1b1b1b"
_PRE = (
    "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere;background:transparent;color:inherit;"
    "font-size:.9em;margin:.4rem 0"
)


def escaped(text: str) -> str:
    """Text that is never markup."""
    return escape(text, quote=True)


def _card(*parts: str) -> str:
    return f'<div style="{_CARD}">' + "".join(parts) + "</div>"


def _picture(svg: str) -> str:
    return f'<div style="{_PICTURE}">{svg}</div>'


def _details(summary: str, text: str) -> str:
    return (
        f'<details style="margin:.3rem 0"><summary style="cursor:pointer">{escaped(summary)}</summary>'
        f'<pre style="{_PRE}">{escaped(text)}</pre></details>'
    )


def answer(it: Any) -> str:
    """Words, chain and waterfall."""
    parts = [f"<p><strong>{escaped(it.question)}</strong></p>", f"<p>{escaped(it.sentence)}</p>"]
    if it.choice is not None:
        parts.append(f"<p>{escaped(it.choice)}</p>")
    parts.append(_picture(it.svg))
    waterfall = it.waterfall
    if waterfall is not None:
        parts.append(_picture(waterfall))
    parts.append(_details("step by step, and caveats", it.text))
    return _card(*parts)


def graph(it: Any) -> str:
    """The picture, and the table of its edges."""
    text = str(it)
    head, _, table = text.partition("\n")
    return _card(f"<p><strong>{escaped(head)}</strong></p>", _picture(it.svg), _details("edges", table))


def audit(it: Any) -> str:
    """The tables."""
    return _card(f'<pre style="{_PRE}">{escaped(it.text)}</pre>')


def log(it: Any) -> str:
    """What the columns hold."""
    return _card(
        f"<p><strong>{escaped(repr(it)[1:-1])}</strong></p>",
        f'<pre style="{_PRE}">{escaped(it.check())}</pre>',
    )


def run(it: Any) -> str:
    """The graph of the run."""
    return _card(f"<p><strong>{escaped(repr(it)[1:-1])}</strong></p>") + graph(it.graph)
