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

/** Sets the text where it differs: an unchanged one costs no layout and keeps a selection in it. */
export function setText(node: HTMLElement, text: string): void {
	if (node.textContent !== text) {
		node.textContent = text;
	}
}
