/**
 * The panel's copy of a run, folded from a snapshot and numbered messages. It reads no clock: it is told the time, in
 * milliseconds of one monotonic clock of the page, and never compares it with the kernel's.
 *
 * | arrives                        | then                                                              |
 * |--------------------------------|-------------------------------------------------------------------|
 * | update seq + 1                 | folded                                                            |
 * | update up to seq               | ignored: the snapshot or an earlier message had it                |
 * | update beyond seq + 1          | a gap: nothing is folded until a replace or a snapshot closes it  |
 * | an update that does not fit    | as a gap                                                          |
 * | replace beyond seq             | taken, whatever is missing                                        |
 * | snapshot from seq on           | taken; an older one is ignored                                    |
 * | status after the run has ended | ignored: an end is final                                          |
 *
 * During a gap the copy stays as it was, text and totals together: old, but true of one moment.
 */

import { align, NO_CHANGE, type TextChange } from "./change";
import { applyUpdate, changeOf } from "./fold";
import { type OutputView, parseMessage, parseSnapshot, type RunStatus, type Update } from "./wire";

/** What became different: the text by `change` (and the frozen head by `head`), or only facts beside it. */
export interface ReplicaEvent {
	readonly change: TextChange;
	readonly head: boolean;
}

const FACTS_ONLY: ReplicaEvent = { change: NO_CHANGE, head: false };

const NOT_YET: RunStatus = {
	state: "running",
	exitCode: null,
	signal: null,
	duration: 0,
	detail: "",
	cpuTime: null,
	peakMemory: null,
	pipeHeld: 0,
};

export class Replica {
	/** Null until the first output arrives. */
	output: OutputView | null = null;
	status: RunStatus = NOT_YET;
	/** How often a panel of this run asked for its end, and how many of these the kernel said that it heard. */
	stopsAsked = 0;
	stopsHeard = 0;

	#seq = 0;
	#highest = 0;
	#readAt: number;
	readonly #listeners = new Set<(event: ReplicaEvent) => void>();

	constructor(now: number) {
		this.#readAt = now;
	}

	get running(): boolean {
		return this.status.state === "running";
	}

	/** True while an update is missing. */
	get behind(): boolean {
		return this.#seq < this.#highest;
	}

	/** Seconds since the start of the run: ticks while it runs, stands still after. */
	elapsed(now: number): number {
		return this.status.duration + (this.running ? Math.max(0, now - this.#readAt) / 1000 : 0);
	}

	/** Calls `listener` after every change; returns the way to end that. */
	subscribe(listener: (event: ReplicaEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Throws a WireError for a malformed snapshot and is then as it was. */
	takeSnapshot(value: unknown, now: number): void {
		const { seq, output, status } = parseSnapshot(value);
		if (seq < this.#seq) {
			return;
		}
		this.#setStatus(status, now);
		// The same number is the same output.
		if (output !== null && (seq > this.#seq || this.output === null)) {
			this.#advance(seq, { kind: "replace", output });
		} else {
			this.#tell(FACTS_ONLY);
		}
	}

	/** Throws for a malformed message, or an update that does not fit the output, and is then as it was. */
	takeMessage(value: unknown, now: number): void {
		const message = parseMessage(value);
		switch (message?.type) {
			case "update":
				this.#takeUpdate(message.seq, message.update);
				break;
			case "status":
				this.#setStatus(message.status, now);
				this.#tell(FACTS_ONLY);
				break;
			case "stopping":
				this.stopsHeard += 1;
				this.#tell(FACTS_ONLY);
				break;
		}
	}

	/** Requests to stop, from a panel or from elsewhere: an interrupt of the kernel is one that was never asked here. */
	get stops(): number {
		return Math.max(this.stopsAsked, this.stopsHeard);
	}

	/** A panel asks for a Stop: all panels of the run show it. */
	askToStop(): void {
		this.stopsAsked = this.stops + 1;
		this.#tell(FACTS_ONLY);
	}

	#takeUpdate(seq: number, update: Update): void {
		if (seq <= this.#seq) {
			return;
		}
		this.#highest = Math.max(this.#highest, seq);
		const next = seq === this.#seq + 1 && this.output !== null;
		if (next || update.kind === "replace") {
			this.#advance(seq, update);
		}
	}

	#advance(seq: number, update: Update): void {
		const before = this.output;
		const after = before === null ? outputOf(update) : applyUpdate(before, update);
		const change = changeOf(update) ?? alignViews(before, after);
		this.output = after;
		this.#seq = seq;
		this.#highest = Math.max(this.#highest, seq);
		this.#tell({ change, head: (before?.head ?? "") !== after.head });
	}

	#setStatus(status: RunStatus, now: number): void {
		if (this.running) {
			this.status = status;
			this.#readAt = now;
		}
	}

	#tell(event: ReplicaEvent): void {
		for (const listener of this.#listeners) {
			listener(event);
		}
	}
}

function outputOf(update: Update): OutputView {
	if (update.kind !== "replace") {
		throw new RangeError(`${update.kind} has no output to change`);
	}
	return update.output;
}

/** Newlines before the held text tell how far it moved: exact for a tail, and at worst a larger change otherwise. */
function alignViews(before: OutputView | null, after: OutputView): TextChange {
	if (before === null) {
		return { drop: 0, cut: 0, text: after.text };
	}
	const gone = Math.max(0, after.metadata.omittedLines - before.metadata.omittedLines);
	return align(before.text, after.text, gone);
}
