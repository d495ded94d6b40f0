/**
 * How fast output comes, and for how long none came. Told the time, in milliseconds, as the replica is.
 *
 * The rate is that of the last seconds, so that one late update makes it neither jump nor fall, and it stands still for
 * a second at a time: a figure that changes ten times a second can not be read.
 */

/** Milliseconds that the rate looks back. */
const WINDOW = 5000;
/** Milliseconds between two samples, and between two rates that are told. */
const CALM = 1000;

interface Sample {
	readonly at: number;
	readonly bytes: number;
}

export class Pace {
	/** Oldest first, at least one; the oldest is `WINDOW` old or a little more as soon as the run is. */
	readonly #samples: [Sample, ...Sample[]];
	#bytes: number;
	#lastOutput: number;
	#rate: number | null = null;
	#rateAt = Number.NEGATIVE_INFINITY;

	/** `bytes` is the total at `now`; the last of them came `quiet` milliseconds before. */
	constructor(bytes: number, now: number, quiet = 0) {
		this.#bytes = bytes;
		this.#samples = [{ at: now, bytes }];
		this.#lastOutput = now - quiet;
	}

	/** The total of all output is now `bytes`. */
	take(bytes: number, now: number): void {
		if (bytes !== this.#bytes) {
			this.#bytes = bytes;
			this.#lastOutput = now;
		}
		// After it: a sample has all that had come by then.
		this.#advance(now);
	}

	/** Milliseconds since output last came. */
	quiet(now: number): number {
		return Math.max(0, now - this.#lastOutput);
	}

	/** Bytes a second; null in the first second, when there is nothing to tell yet. */
	rate(now: number): number | null {
		this.#advance(now);
		const [{ at, bytes }] = this.#samples;
		if (now - at >= CALM && now - this.#rateAt >= CALM) {
			this.#rate = ((this.#bytes - bytes) * 1000) / (now - at);
			this.#rateAt = now;
		}
		return this.#rate;
	}

	#advance(now: number): void {
		if (now - (this.#samples.at(-1)?.at ?? 0) >= CALM) {
			this.#samples.push({ at: now, bytes: this.#bytes });
		}
		while ((this.#samples[1]?.at ?? now) <= now - WINDOW) {
			this.#samples.shift();
		}
	}
}
