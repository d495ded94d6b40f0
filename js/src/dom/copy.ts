/** Copies a text to the clipboard, at a press of a button, and says whether it did. */

import { element } from "./element";
import { iconButton, setIcon } from "./icon";

/** Milliseconds that the answer stands: long enough to be seen, short enough to copy again. */
const ANSWER_FOR = 1500;
const LABEL = "copy the text shown";

export function copyButton(textOf: () => string, signal: AbortSignal): HTMLButtonElement {
	const button = iconButton("copy", LABEL);
	let timer = 0;
	const answer = (copied: boolean) => {
		clearTimeout(timer);
		setIcon(button, copied ? "copied" : "failed", copied ? "copied" : "the browser did not let it be copied");
		timer = window.setTimeout(() => setIcon(button, "copy", LABEL), ANSWER_FOR);
	};
	button.addEventListener("click", () => void copyText(textOf(), button).then(answer), { signal });
	signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
	return button;
}

/** False if the browser did not let it be copied. `button` keeps the focus. */
export async function copyText(text: string, button: HTMLElement): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		// Not there on a page without https, and refused where the page is in a frame: the old way needs neither.
		return copyBySelection(text, button);
	}
}

function copyBySelection(text: string, button: HTMLElement): boolean {
	const area = element("textarea", "boundcap-copying", { readonly: "", "aria-hidden": "true" });
	area.value = text;
	button.after(area);
	area.select();
	try {
		return document.execCommand("copy");
	} finally {
		area.remove();
		button.focus({ preventScroll: true });
	}
}
