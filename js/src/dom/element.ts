/** Elements are made here, and only of text: no string of the output or the kernel is ever read as markup. */

export function element<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	className: string,
	attributes: Readonly<Record<string, string>> = {},
	...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
	const node = document.createElement(tag);
	node.className = className;
	for (const [name, value] of Object.entries(attributes)) {
		node.setAttribute(name, value);
	}
	node.append(...children);
	return node;
}

/** What `setText` set last: asking the page for it costs as much as setting it. */
const texts = new WeakMap<HTMLElement, string>();

/** Sets the text of a node that nothing else sets, where it differs: unchanged, it costs no layout and stays selected. */
export function setText(node: HTMLElement, text: string): void {
	if (texts.get(node) === text) {
		return;
	}
	texts.set(node, text);
	const { firstChild } = node;
	if (firstChild instanceof Text && firstChild === node.lastChild) {
		firstChild.data = text;
	} else {
		node.textContent = text;
	}
}
