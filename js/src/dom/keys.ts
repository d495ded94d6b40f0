/** Keys that are the panel's own while the focus is in it. Elsewhere in a notebook they move between cells or run them. */

/** Lumino, which runs the shortcuts of JupyterLab and Notebook, leaves keys to an element with this attribute. */
const NO_SHORTCUTS = "data-lm-suppress-shortcuts";
const SCROLL_KEYS: ReadonlySet<string> = new Set([
	"ArrowUp",
	"ArrowDown",
	"ArrowLeft",
	"ArrowRight",
	"PageUp",
	"PageDown",
	"Home",
	"End",
	" ",
]);
const PRESS_KEYS: ReadonlySet<string> = new Set(["Enter", " "]);
const NO_KEYS: ReadonlySet<string> = new Set();

/** Keeps shortcuts off the keys that scroll a text or press a button within `panel`, and off no others. */
export function keepKeys(panel: HTMLElement, signal: AbortSignal): void {
	const pressed = (event: KeyboardEvent) => {
		const { target } = event;
		if (target instanceof HTMLElement && panel.contains(target)) {
			const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
			target.toggleAttribute(NO_SHORTCUTS, plain && keysOf(target).has(event.key));
		}
	};
	// In capture on the window: Lumino listens in capture on the document.
	window.addEventListener("keydown", pressed, { capture: true, signal });
}

function keysOf(target: HTMLElement): ReadonlySet<string> {
	if (target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement) {
		return PRESS_KEYS;
	}
	return target.getAttribute("role") === "log" ? SCROLL_KEYS : NO_KEYS;
}
