/** One drawing for all that happened since the last frame. */

/**
 * Milliseconds. A hidden page gets no animation frames, but must not fall behind without bound; a page that is seen has
 * long had its frame by then.
 */
const HIDDEN_PAGE_DELAY = 250;

export class Frames {
	#frame = 0;
	#timer = 0;
	#asked = false;
	readonly #draw: () => void;

	/** Ends with `signal`: no drawing after it. */
	constructor(draw: () => void, signal: AbortSignal) {
		this.#draw = draw;
		signal.addEventListener("abort", () => this.#clear(), { once: true });
	}

	request(): void {
		if (this.#asked) {
			return;
		}
		this.#asked = true;
		const run = () => {
			this.#clear();
			this.#draw();
		};
		this.#frame = requestAnimationFrame(run);
		this.#timer = window.setTimeout(run, HIDDEN_PAGE_DELAY);
	}

	#clear(): void {
		this.#asked = false;
		cancelAnimationFrame(this.#frame);
		clearTimeout(this.#timer);
	}
}
