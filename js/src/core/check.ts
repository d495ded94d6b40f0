/**
 * When to ask the kernel whether something was lost on the way. A gap in the numbers shows itself, but a lost last
 * message does not: nothing comes after it. Told the time, in milliseconds, as the replica is.
 *
 * | what is known                  | asks                                                   |
 * |--------------------------------|--------------------------------------------------------|
 * | updates are missing            | a second later, unless a replace came meanwhile        |
 * | the run has ended              | at once: the last update may be what was lost          |
 * | the run goes on since long     | at once: something may have come while the page loaded |
 * | the connection is back         | at once                                                |
 * | nothing was heard while it ran | after 15 s, then ever more rarely                      |
 *
 * A kernel that is busy hears all questions when it is idle again, and would answer each: there is one at a time.
 */

import type { Link } from "./replica";

/** Milliseconds, all of them. */
const AFTER_GAP = 1000;
const AFTER_SILENCE = 15_000;
/** A job that prints nothing for hours costs a small message in so long. */
const SELDOM = 240_000;
/** The answer may be lost, too. */
const UNANSWERED = 300_000;

/** What of a replica decides. */
export interface Known {
	readonly running: boolean;
	readonly behind: boolean;
	readonly link: Link;
	/** The number of the last update that is known; 0 before the first. */
	readonly seq: number;
}

export class Check {
	/** When to ask, a time that may have passed; null while there is nothing to ask, or nobody. */
	due: number | null = null;
	#before: Known;
	#behindSince = 0;
	#heardAt: number;
	#answeredAt = Number.NEGATIVE_INFINITY;
	#silence = AFTER_SILENCE;
	#askedAt: number | null = null;
	#urgent = false;

	constructor(known: Known, now: number) {
		this.#before = copyOf(known);
		this.#heardAt = now;
		this.#urgent = known.running && known.seq > 0;
		this.look(known, now);
	}

	/** Something came from the kernel, perhaps the answer to a question. To be followed by a `look`. */
	heard(answer: boolean, now: number): void {
		this.#heardAt = now;
		this.#silence = answer ? Math.min(2 * this.#silence, SELDOM) : AFTER_SILENCE;
		if (answer) {
			this.#answeredAt = now;
			this.#askedAt = null;
		}
	}

	/** The question was sent. */
	asked(known: Known, now: number): void {
		this.#askedAt = now;
		this.#urgent = false;
		this.look(known, now);
	}

	/** Settles `due` by what is known now. */
	look(known: Known, now: number): void {
		const before = this.#before;
		this.#before = copyOf(known);
		if (known.behind && !before.behind) {
			this.#behindSince = now;
		}
		if (known.link === "live" && before.link !== "live") {
			// Who was asked before the connection broke answers no more.
			this.#askedAt = null;
			this.#urgent = true;
		}
		this.#urgent ||= before.running && !known.running;
		this.due = known.link === "live" ? this.#next(known, now) : null;
	}

	#next({ running, behind }: Known, now: number): number | null {
		if (this.#askedAt !== null) {
			return running || behind ? this.#askedAt + UNANSWERED : null;
		}
		if (this.#urgent) {
			return now;
		}
		if (behind) {
			return Math.max(this.#behindSince, this.#answeredAt) + AFTER_GAP;
		}
		return running ? this.#heardAt + this.#silence : null;
	}
}

/** A replica changes. */
function copyOf({ running, behind, link, seq }: Known): Known {
	return { running, behind, link, seq };
}
