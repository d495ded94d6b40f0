/**
 * The panel's copy of a run, folded from a snapshot and numbered messages. It reads no clock: it is told the time, in
 * milliseconds of one monotonic clock of the page, and never compares it with the kernel's.
 *
 * | arrives                        | then                                                                         |
 * |--------------------------------|------------------------------------------------------------------------------|
 * | the next update                | folded into the copy of its stream                                           |
 * | an update that was had already | ignored: the snapshot or an earlier message had it                           |
 * | an update behind a gap         | what is missing may be of any stream: each waits for a replace or a snapshot |
 * | an update that does not fit    | as a gap, of its stream                                                      |
 * | a newer replace                | taken, whatever is missing                                                   |
 * | snapshot                       | taken where it is newer than the copy of a stream; an older one is ignored   |
 * | status after the run has ended | ignored: an end is final                                                     |
 *
 * During a gap a copy stays as it was, text and totals together: old, but true of one moment.
 */

import { align, NO_CHANGE, type TextChange } from "./change";
import { applyUpdate, changeOf } from "./fold";
import { Pace } from "./pace";
import {
	type OutputView,
	parseMessage,
	parseSnapshot,
	type RunStatus,
	type Snapshot,
	STREAMS,
	type StreamName,
	type Update,
} from "./wire";

/** What became different: the text of a stream by `change` (and its frozen head by `head`), or only facts beside it. */
export interface ReplicaEvent {
	readonly stream: StreamName | null;
	readonly change: TextChange;
	readonly head: boolean;
}

const FACTS_ONLY: ReplicaEvent = { stream: null, change: NO_CHANGE, head: false };

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

/**
 * The way to the kernel: "lost" is a connection that may come back, "gone" is for good, since a kernel that starts again
 * knows nothing of the run.
 */
export type Link = "live" | "lost" | "gone";

/** `view` is null until the first arrives; every update of the stream up to number `seq` is in it. */
interface Copy {
	view: OutputView | null;
	seq: number;
}

export class Replica {
	status: RunStatus = NOT_YET;
	/** How often a panel of this run asked for its end, and how many of these the kernel said that it heard. */
	stopsAsked = 0;
	stopsHeard = 0;
	link: Link = "live";
	pace: Pace;

	/** The highest number that was seen. */
	#seq = 0;
	readonly #copies: Readonly<Record<StreamName, Copy>> = {
		output: { view: null, seq: 0 },
		stderr: { view: null, seq: 0 },
	};
	#readAt: number;
	/** When the link was last known to be live; time stands still from then on. */
	#lostAt = Number.POSITIVE_INFINITY;
	#begun = false;
	readonly #listeners = new Set<(event: ReplicaEvent) => void>();

	constructor(now: number) {
		this.#readAt = now;
		this.pace = new Pace(0, now);
	}

	/** The output of the run, or its standard output; null until the first arrives. */
	get output(): OutputView | null {
		return this.#copies.output.view;
	}

	/** The standard error of a run that keeps it apart; null until the first arrives. */
	get stderr(): OutputView | null {
		return this.#copies.stderr.view;
	}

	get running(): boolean {
		return this.status.state === "running";
	}

	/** True while news of the run may come: it runs, and there is a way to it. */
	get ticking(): boolean {
		return this.running && this.link === "live";
	}

	/** The highest number that was seen, of either stream. */
	get seq(): number {
		return this.#seq;
	}

	/** Bytes of all output, of both streams. */
	get totalBytes(): number {
		return STREAMS.reduce((sum, name) => sum + (this.#copies[name].view?.metadata.truncation.totalBytes ?? 0), 0);
	}

	/** True while an update is missing in what is shown. */
	get behind(): boolean {
		return STREAMS.some((name) => this.#copies[name].view !== null && this.#copies[name].seq < this.#seq);
	}

	/** Seconds since the start of the run: ticks while it runs, stands still after, and while nothing is known of it. */
	elapsed(now: number): number {
		const known = Math.min(now, this.#lostAt);
		return this.status.duration + (this.running ? Math.max(0, known - this.#readAt) / 1000 : 0);
	}

	/** Tells the listeners where it is another link than before. What is gone stays gone. */
	setLink(link: Link, now: number): void {
		if (link !== this.link && this.link !== "gone") {
			this.#lostAt = link === "live" ? Number.POSITIVE_INFINITY : Math.min(this.#lostAt, now);
			this.link = link;
			this.#tell(FACTS_ONLY);
		}
	}

	/** Calls `listener` after every change; returns the way to end that. */
	subscribe(listener: (event: ReplicaEvent) => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Throws a WireError for a malformed snapshot and is then as it was. */
	takeSnapshot(value: unknown, now: number): void {
		this.#takeParsed(parseSnapshot(value), now);
	}

	#takeParsed({ seq, views, status, quiet }: Snapshot, now: number): void {
		if (STREAMS.every((name) => seq < this.#copies[name].seq)) {
			return;
		}
		this.#setStatus(status, now);
		this.#seq = Math.max(this.#seq, seq);
		for (const name of STREAMS) {
			const copy = this.#copies[name];
			const view = views[name];
			// The same number is the same text.
			if (view !== null && (seq > copy.seq || copy.view === null)) {
				this.#advance(name, seq, { kind: "replace", output: view });
			}
			copy.seq = Math.max(copy.seq, seq);
		}
		if (!this.#begun) {
			// What was printed before this page looked is no rate.
			this.pace = new Pace(this.totalBytes, now, quiet * 1000);
		}
		this.#noteProgress(now);
		this.#tell(FACTS_ONLY);
	}

	/** Throws for a malformed message, or an update that does not fit the output, and is then as it was. */
	takeMessage(value: unknown, now: number): void {
		const message = parseMessage(value);
		switch (message?.type) {
			case "update":
				this.#takeUpdate(message.seq, message.stream, message.update);
				this.#noteProgress(now);
				break;
			case "snapshot":
				this.#takeParsed(message.snapshot, now);
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

	#takeUpdate(seq: number, stream: StreamName, update: Update): void {
		if (seq <= this.#seq) {
			return;
		}
		const whole = STREAMS.filter((name) => seq === this.#seq + 1 && this.#copies[name].seq === this.#seq);
		this.#seq = seq;
		for (const name of whole) {
			if (name !== stream) {
				this.#copies[name].seq = seq;
			}
		}
		const next = whole.includes(stream) && this.#copies[stream].view !== null;
		if (next || update.kind === "replace") {
			this.#advance(stream, seq, update);
		}
	}

	#advance(stream: StreamName, seq: number, update: Update): void {
		const copy = this.#copies[stream];
		const before = copy.view;
		const after = before === null ? outputOf(update) : applyUpdate(before, update);
		const change = changeOf(update) ?? alignViews(before, after);
		copy.view = after;
		copy.seq = seq;
		this.#tell({ stream, change, head: (before?.head ?? "") !== after.head });
	}

	#noteProgress(now: number): void {
		this.#begun = true;
		this.pace.take(this.totalBytes, now);
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
