/**
 * Lines above the view, a step at a time: where the next step ends, and what lies between the last one and the view.
 *
 *     | not read yet | step 2 | step 1 | gap | view |
 *                    ^ begins          ^ ends
 *
 * The view goes on while the steps stay: what has left it since is the gap, and is counted.
 */

import type { OlderAnswer } from "./answers";
import type { Asking } from "./asking";
import type { Retain } from "./format";
import type { OutputMetadata, StreamName } from "./wire";

/**
 * Lines and UTF-16 code units that steps may add up to in one panel: a page is no place for a whole log. Twenty steps of
 * ordinary lines.
 */
export const MOST_LINES = 40_000;
export const MOST_UNITS = 8 * 1024 * 1024;

/** Steps that are asked for in a row when one brings no line, as where a display was redrawn for megabytes. */
const MOST_EMPTY = 8;

export type OlderState =
	| { readonly kind: "idle" }
	| { readonly kind: "asking"; readonly silent: boolean }
	| { readonly kind: "failed"; readonly reason: string };

export interface Gap {
	readonly omittedBytes: number;
	readonly omittedLines: number;
}

export class OlderLines {
	state: OlderState = { kind: "idle" };
	/** Lines and code units that the steps so far have brought. */
	lines = 0;
	#units = 0;
	#begins: number | null = null;
	#ends: Gap = { omittedBytes: 0, omittedLines: 0 };
	readonly #asking: Asking;
	readonly #stream: StreamName;
	readonly #arrived: (answer: OlderAnswer) => void;
	readonly #changed: () => void;
	#stopWaiting = () => {};

	/** `arrived` gets each step, to be put above all that is there; `changed` is called after every change of state. */
	constructor(asking: Asking, stream: StreamName, arrived: (answer: OlderAnswer) => void, changed: () => void) {
		this.#asking = asking;
		this.#stream = stream;
		this.#arrived = arrived;
		this.#changed = changed;
	}

	/** True where there are lines above, and a place in the file to look for them. */
	offered(metadata: OutputMetadata, retain: Retain): boolean {
		const place = this.#begins ?? metadata.omittedBytes;
		return retain === "tail" && !metadata.binary && metadata.spillState !== "none" && place > 0;
	}

	get full(): boolean {
		return this.lines >= MOST_LINES || this.#units >= MOST_UNITS;
	}

	more({ omittedBytes, omittedLines }: OutputMetadata): void {
		if (this.state.kind === "asking" || this.full) {
			return;
		}
		if (this.#begins === null) {
			this.#ends = { omittedBytes, omittedLines };
		}
		this.#ask(this.#begins ?? omittedBytes, 1);
	}

	/** What is between the steps and the view, null if nothing is. */
	gap({ omittedBytes, omittedLines }: OutputMetadata): Gap | null {
		const bytes = omittedBytes - this.#ends.omittedBytes;
		if (this.#begins === null || bytes <= 0) {
			return null;
		}
		return { omittedBytes: bytes, omittedLines: Math.max(0, omittedLines - this.#ends.omittedLines) };
	}

	end(): void {
		this.#stopWaiting();
	}

	#ask(before: number, times: number): void {
		this.#become({ kind: "asking", silent: false });
		this.#stopWaiting = this.#asking.ask(
			{ type: "older", stream: this.#stream, before },
			{
				answered: (answer) => {
					if (answer.type !== "older") {
						const reason = answer.type === "refused" ? answer.reason : "the kernel answered something else";
						this.#become({ kind: "failed", reason });
					} else if (answer.begins >= before) {
						this.#become({ kind: "failed", reason: "the kernel answered for another place" });
					} else {
						this.#take(answer, times);
					}
				},
				silent: () => this.#become({ kind: "asking", silent: true }),
			},
		);
	}

	#take(answer: OlderAnswer, times: number): void {
		this.#begins = answer.begins;
		if (answer.text === "" && answer.begins > 0 && times < MOST_EMPTY) {
			this.#ask(answer.begins, times + 1);
			return;
		}
		this.lines += answer.lines;
		this.#units += answer.text.length;
		if (answer.text !== "") {
			this.#arrived(answer);
		}
		this.#become({ kind: "idle" });
	}

	#become(state: OlderState): void {
		this.state = state;
		this.#changed();
	}
}
