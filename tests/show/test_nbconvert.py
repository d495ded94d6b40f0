"""The static result where a saved notebook is converted: the text is there, to read, and is text."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from boundcap_jupyter.show.markup import isolated
from tests.show.page import ALLOWED, Page

pytest.importorskip("ipykernel")
exporters = pytest.importorskip("nbconvert.exporters")

#: What a command may print to become more than text in one of the three languages.
LINES = [
    "\x1b[31mred\x1b[0m \x1b[1;38;5;208mbold\x1b[0m plain … and ... dots",
    "<script>alert(1)</script> <b>&amp; &lt; <!--",
    "</pre></div></details><img src=x onerror=alert(1)>",
    "\x1b]8;;https://example.org/?a=1&b=2\x1b\\link\x1b]8;;\x1b\\ to click",
    "\x1b]8;;javascript:alert(1)\x1b\\script\x1b]8;;\x1b\\",
    "",
    "* star _under_ `code` **bold** [x](javascript:alert(1)) | a | b |",
    "```",
    "# heading",
    "",
    "    indented, after a blank line",
    "---",
    r"\end{Verbatim} \input{/etc/passwd} $x_1$ %comment #1 ~ ^2 {} \\ \textbf{b}",
    "((( output ))) ((* set x = 1 *)) {{ cell }} {% raw %}",
    "café 漢字 🎉 \u202eturned",
]


def shown(line):
    return re.sub(r"\x1b\[[\d;]*m|\x1b\]8;;.*?\x1b\\", "", line)


TEXT = "".join(shown(line) + "\n" for line in LINES)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The path of a notebook that was executed and saved."""
    directory = tmp_path_factory.mktemp("converted")
    (directory / "output").write_text("".join(line + "\n" for line in LINES))
    sources = ["%load_ext boundcap_jupyter", f"%%bounded\ncat {directory}/output"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    nbformat.write(notebook, directory / "saved.ipynb")
    return directory / "saved.ipynb"


def convert(path, to):
    """What `jupyter nbconvert --to` writes."""
    body, _ = exporters.get_exporter(to)().from_filename(str(path))
    return body


def check_html(markup):
    """The words beside the text are there, the text is what was printed, and no element is a stranger."""
    page = Page(markup)
    assert page.text == TEXT
    assert page.words.startswith("|done|")
    assert page.strangers() == []
    assert [attributes["href"] for name, attributes in page.elements if name == "a"] == ["https://example.org/?a=1&b=2"]
    colours = [attributes["style"] for name, attributes in page.elements if name == "span" and attributes]
    assert any(style.startswith("color:#f2777a") for style in colours), "the text in red is red"


def test_html_shows_the_text_as_text(saved):
    soup = pytest.importorskip("bs4").BeautifulSoup(convert(saved, "html"), "html.parser")
    (output,) = soup.select(".jp-OutputArea-output")
    assert {element.name for element in output.find_all()} <= ALLOWED.keys()
    check_html("".join(str(child) for child in output.children).strip())


def test_markdown_holds_one_block_of_html(saved):
    (block,) = re.findall(r"\n\n(<div .*?)\n\n", convert(saved, "markdown"), re.DOTALL)
    # CommonMark 4.6: such a block begins at the start of a line, and ends at the first blank one.
    assert "\n" not in block
    check_html(block)


def test_latex_is_verbatim_and_nothing_in_it_is_a_command(saved):
    tex = convert(saved, "latex")
    begin, end = "\\begin{Verbatim}[commandchars=\\\\\\{\\}]\n", "\n    \\end{Verbatim}"
    printed = tex.split(begin)[-1]
    assert printed.count(end) == 1
    escaped = printed.partition(end)[0]
    # What nbconvert writes for a character that means something to LaTeX.
    meanings = {
        r"\textbackslash{}": "\\",
        r"\textasciitilde{}": "~",
        r"\^{}": "^",
        r"{\ldots}": "...",
        **{f"\\{char}": char for char in "&%$#_{}"},
    }
    known = re.compile("|".join(map(re.escape, meanings)))
    assert not re.search(r"[\\{}]", known.sub("", escaped))
    text, _, status = known.sub(lambda found: meanings[found[0]], escaped).rpartition("\n")
    assert text + "\n" == isolated(TEXT)
    assert status.startswith(f"exit 0 · {len(LINES)} lines · ")
