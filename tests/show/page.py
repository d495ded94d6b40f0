"""HTML read as a browser reads it: which elements there are, and which text they show."""

from __future__ import annotations

from html.parser import HTMLParser

#: All that the static result is made of, with the attributes that it may have.
ALLOWED = {
    "div": {"class", "style"},
    "details": {"open"},
    "summary": {"style"},
    "span": {"style"},
    "b": {"style"},
    "pre": {"style"},
    "br": set(),
    "bdi": set(),
    "a": {"href", "target", "rel", "style"},
}


class Page(HTMLParser):
    """`text` is what stands in `pre`, `words` what stands elsewhere; `elements` are (name, attributes)."""

    def __init__(self, html: str, inside_pre: bool = False) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.words = ""
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = ["pre"] if inside_pre else []
        self.feed(html)
        self.close()
        assert self._open == (["pre"] if inside_pre else [])

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "br":
            self.handle_data("\n")
        else:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        # `<br/>` ends nothing that was begun.
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "pre" in self._open:
            self.text += data
        elif data.strip():
            self.words += f"|{data}"

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    def strangers(self):
        """Elements and attributes that nobody here writes."""
        return [
            (tag, attributes)
            for tag, attributes in self.elements
            if tag not in ALLOWED or not attributes.keys() <= ALLOWED[tag]
        ]
