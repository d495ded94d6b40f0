/** One drawing for all that happened since the last one, no more of them than a reader has use for. */

/** Milliseconds between two drawings: what several messages bring at once is drawn once. */
export const LEAST_GAP = 32;

/**
 * Drawn in a task of its own, not in an animation frame: following the end sets a scroll position, and the event that
 * tells of it belongs to the next frame. Set before the frame it is the same one; set within it, every update costs two.
 * A hidden page has timers, too, though few: it does not fall behind without bound.
 */
export class Frames {
	#timer = 0;
	#due = Number.POSITIVE_INFINITY;
	#drawnAt = Number.NEGATIVE_INFINITY;
	readonly #draw: () => void;

	/** Ends with `signal`: no drawing after it. */
	constructor(draw: () => void, signal: AbortSignal) {
		this.#draw = draw;
		signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
	}

	/** Asks for a drawing as soon as the last is `gap` milliseconds old, or sooner if that was asked for already. */
	request(gap = LEAST_GAP): void {
		const now = performance.now();
		const due = Math.max(now, this.#drawnAt + gap);
		if (due < this.#due) {
			clearTimeout(this.#timer);
			this.#due = due;
			this.#timer = window.setTimeout(() => this.#run(), due - now);
		}
	}

	#run(): void {
		this.#due = Number.POSITIVE_INFINITY;
		this.#drawnAt = performance.now();
		this.#draw();
	}
}
