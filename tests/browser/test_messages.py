"""How many messages a loud cell costs the page."""

from playwright.sync_api import expect

COUNT = """() => {
    const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
    window.messages = 0;
    kernel.iopubMessage.connect(() => { window.messages += 1; });
}"""

#: Lines of 40 characters and their newlines in 20 MB.
LINES = 20_000_000 // 41


def test_twenty_megabytes_of_short_lines_are_sixty_messages_at_most(notebook):
    # IPython's %%bash sends each part that it reads: 200,195 messages.
    page = notebook([f"%%bounded\nyes 'a line of forty characters, all of them.' | head -n {LINES}"])
    page.run(0)
    page.page.evaluate(COUNT)
    outputs = page.run(1)
    expect(outputs).to_contain_text(f"{LINES:,} lines")
    expect(outputs).to_contain_text(f"{41 * LINES:,} B")
    messages = page.page.evaluate("window.messages")
    print(f"20 MB in lines of 40 characters: {messages} messages")
    assert 0 < messages <= 60
