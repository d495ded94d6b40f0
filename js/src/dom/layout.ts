/** How the reader wants the text laid out: wrapped or not, which is remembered, and how high. */

import { iconButton, setIcon } from "./icon";

const WRAP_KEY = "boundcap:wrap";

export class Layout {
	readonly nodes: readonly HTMLElement[];
	readonly #panel: HTMLElement;
	readonly #wrap = iconButton("wrap", "wrap long lines");
	readonly #height = iconButton("taller", "show more rows");

	/** Sets classes of `panel`, by which panel.css lays out the texts in it. */
	constructor(panel: HTMLElement, signal: AbortSignal) {
		this.#panel = panel;
		this.nodes = [this.#wrap, this.#height];
		this.#setWrap(remembered() !== "off");
		this.#setTall(false);
		this.#wrap.addEventListener(
			"click",
			() => {
				const on = this.#wrap.getAttribute("aria-pressed") !== "true";
				this.#setWrap(on);
				remember(on ? "on" : "off");
			},
			{ signal },
		);
		this.#height.addEventListener("click", () => this.#setTall(this.#height.getAttribute("aria-expanded") !== "true"), {
			signal,
		});
	}

	#setWrap(on: boolean): void {
		this.#wrap.setAttribute("aria-pressed", String(on));
		this.#panel.classList.toggle("boundcap-unwrapped", !on);
	}

	#setTall(on: boolean): void {
		setIcon(this.#height, on ? "shorter" : "taller", on ? "show fewer rows" : "show more rows");
		this.#height.setAttribute("aria-expanded", String(on));
		this.#panel.classList.toggle("boundcap-tall", on);
	}
}

/** A page may have no storage to use, by the reader's wish or its own; then every panel starts wrapped. */
function remembered(): string | null {
	try {
		return localStorage.getItem(WRAP_KEY);
	} catch {
		return null;
	}
}

function remember(value: string): void {
	try {
		localStorage.setItem(WRAP_KEY, value);
	} catch {
		// For this panel it holds all the same.
	}
}
