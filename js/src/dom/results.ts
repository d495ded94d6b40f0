/**
 * The static result of a run in the page. While there is a kernel to ask, the panel is shown in its place: Download, Show
 * more, what the reader scrolled, opened and selected live on when the run is over. It is a matter of the page alone; the
 * notebook and its file have the static result.
 *
 * The kernel gives the root of the result a class that ends with a token, and the widget the same token. Nothing else is
 * read from the page: whoever knows the token of a run can have the panel of that run shown, and nothing but that.
 */

import { countResults } from "./lasting";

/** Twins of those in show/static.py. */
const RESULT_CLASS = "boundcap-result";
const RUN_CLASS = "boundcap-run-";

/** The animation that panel.css gives each result. */
const APPEARS = "boundcap-appears";

export class Results {
	readonly #manager: unknown;
	readonly #token: string;

	/** `token` is what the model has of it; without a good one there are no results. */
	constructor(manager: unknown, token: unknown) {
		this.#manager = manager;
		this.#token = typeof token === "string" && /^[0-9a-f]{16,64}$/.test(token) ? token : "";
	}

	/** The roots that are in the page. */
	roots(): Element[] {
		if (this.#token === "") {
			return [];
		}
		// Classes of a document are indexed: this costs nothing to speak of.
		return [...document.getElementsByClassName(`${RESULT_CLASS} ${RUN_CLASS}${this.#token}`)];
	}

	/**
	 * Calls `appeared` with each root that appears, until `signal`.
	 *
	 * A CSS animation that does nothing starts whenever an element is shown for the first time or again: after a reload,
	 * in another view of the cell, when a windowed notebook puts the cell back. The browser tells of it once; to observe
	 * the document for that would cost at each change of any panel in it. It tells a frame late, so the end of a run that
	 * is in sight is watched more closely (dom/panels.ts).
	 */
	watch(appeared: (root: Element) => void, signal: AbortSignal): void {
		if (this.#token === "") {
			return;
		}
		document.addEventListener(
			"animationstart",
			({ animationName, target }) => {
				if (animationName === APPEARS && target instanceof Element && this.#isRoot(target)) {
					appeared(target);
				}
			},
			{ signal },
		);
	}

	/** How often the notebook of this page has the result, in sight or not; 0 where a host does not tell. */
	get inNotebook(): number {
		return this.#token === "" ? 0 : countResults(this.#manager, RUN_CLASS + this.#token);
	}

	#isRoot({ classList }: Element): boolean {
		return classList.contains(RESULT_CLASS) && classList.contains(RUN_CLASS + this.#token);
	}
}
