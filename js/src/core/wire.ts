/**
 * What travels between kernel and panel, and the parsers of what arrives. Twin of the dataclasses in core/view.py,
 * core/update.py and core/status.py.
 *
 * Parsers copy what they know into fresh objects: a message is taken whole or not at all, and what is unknown in it is
 * left behind.
 */

import {
	countAt,
	type Fields,
	fieldsOf,
	flagAt,
	integerOrNullAt,
	oneOfAt,
	own,
	secondsAt,
	show,
	textAt,
	textOrNullAt,
	WireError,
} from "./json";

const LIMITS = ["lines", "bytes"] as const;

export interface Truncation {
	readonly truncated: boolean;
	readonly truncatedBy: (typeof LIMITS)[number] | null;
	readonly totalLines: number;
	readonly totalBytes: number;
	readonly outputLines: number;
	readonly outputBytes: number;
	readonly lastLinePartial: boolean;
	readonly firstLineExceedsLimit: boolean;
	readonly maxLines: number;
	readonly maxBytes: number;
}

export const SPILL_STATES = ["none", "open", "complete", "incomplete"] as const;

export interface OutputMetadata {
	readonly truncation: Truncation;
	readonly lastLineBytes: number;
	readonly omittedBytes: number;
	readonly omittedLines: number;
	readonly firstLinePartial: boolean;
	readonly leadSgr: string;
	readonly binary: boolean;
	readonly spillPath: string | null;
	readonly spillState: (typeof SPILL_STATES)[number];
	readonly spillBytes: number;
}

export interface OutputView {
	readonly text: string;
	readonly metadata: OutputMetadata;
	readonly head: string;
}

/** `drop` and `cut` count UTF-16 code units, what `slice` counts. */
export type Update =
	| { readonly kind: "replace"; readonly output: OutputView }
	| { readonly kind: "append"; readonly text: string; readonly metadata: OutputMetadata }
	| { readonly kind: "slide"; readonly drop: number; readonly text: string; readonly metadata: OutputMetadata }
	| {
			readonly kind: "rewrite";
			readonly drop: number;
			readonly cut: number;
			readonly text: string;
			readonly metadata: OutputMetadata;
	  }
	| { readonly kind: "metadata"; readonly metadata: OutputMetadata };

export const RUN_STATES = [
	"running",
	"exited",
	"signaled",
	"stopped",
	"timeout",
	"idle_timeout",
	"spawn_error",
	"spill_error",
	"callback_error",
	"worker_lost",
	"interrupted",
] as const;

export type RunState = (typeof RUN_STATES)[number];

/**
 * `duration` is in seconds since the start; `signal` is a name such as "SIGTERM". At the end: `cpuTime` in seconds,
 * `peakMemory` in bytes, and how many processes still hold the output.
 */
export interface RunStatus {
	readonly state: RunState;
	readonly exitCode: number | null;
	readonly signal: string | null;
	readonly duration: number;
	readonly detail: string;
	readonly cpuTime: number | null;
	readonly peakMemory: number | null;
	readonly pipeHeld: number;
}

/** "output" is the stream of both outputs, or the standard output where "stderr", the standard error, is kept apart. */
export const STREAMS = ["output", "stderr"] as const;

export type StreamName = (typeof STREAMS)[number];

/**
 * Everything up to update number `seq`, which counts those of both streams; a view is null before its first. `quiet` is
 * the seconds for which a run that goes on has printed nothing.
 */
export interface Snapshot {
	readonly seq: number;
	readonly views: Readonly<Record<StreamName, OutputView | null>>;
	readonly status: RunStatus;
	readonly quiet: number;
}

/** Kernel to panel. */
export type KernelMessage =
	| { readonly type: "update"; readonly seq: number; readonly stream: StreamName; readonly update: Update }
	| { readonly type: "status"; readonly status: RunStatus }
	| { readonly type: "stopping" }
	/** The answers to a check: what the page does not have, or that there is nothing. */
	| { readonly type: "snapshot"; readonly snapshot: Snapshot }
	| { readonly type: "current" };

/**
 * Panel to kernel. A check asks whether there is more than update number `seq`, and whether the run still runs; "placed"
 * says that the static result stands in the notebook of this page.
 */
export type PanelMessage =
	| { readonly type: "stop" }
	| { readonly type: "placed" }
	| { readonly type: "check"; readonly seq: number; readonly running: boolean };

/**
 * A message of the kernel; null for a type that this panel does not know, since a newer kernel may have more to say.
 *
 * Throws a WireError that names the field and the value.
 */
export function parseMessage(value: unknown): KernelMessage | null {
	const message = fieldsOf(value, "message");
	switch (textAt(message, "type", "message")) {
		case "update": {
			const seq = countAt(message, "seq", "message");
			if (seq === 0) {
				throw new WireError("message.seq must count from 1, not 0");
			}
			const stream = oneOfAt(message, "stream", "message", STREAMS);
			return { type: "update", seq, stream, update: parseUpdate(own(message, "update"), "message.update") };
		}
		case "status":
			return { type: "status", status: parseStatus(own(message, "status"), "message.status") };
		case "stopping":
			return { type: "stopping" };
		case "snapshot":
			return { type: "snapshot", snapshot: parseSnapshot(own(message, "snapshot")) };
		case "current":
			return { type: "current" };
		default:
			return null;
	}
}

export function parseSnapshot(value: unknown): Snapshot {
	const snapshot = fieldsOf(value, "snapshot");
	const viewAt = (name: StreamName) => {
		const view = own(snapshot, name);
		return view === null ? null : parseView(view, `snapshot.${name}`);
	};
	return {
		seq: countAt(snapshot, "seq", "snapshot"),
		views: { output: viewAt("output"), stderr: viewAt("stderr") },
		status: parseStatus(own(snapshot, "status"), "snapshot.status"),
		quiet: secondsAt(snapshot, "quiet", "snapshot"),
	};
}

export function parseUpdate(value: unknown, path = "update"): Update {
	const update = fieldsOf(value, path);
	const kind = textAt(update, "kind", path);
	switch (kind) {
		case "replace":
			return { kind, output: parseView(own(update, "output"), `${path}.output`) };
		case "append":
			return { kind, text: textAt(update, "text", path), metadata: metadataAt(update, path) };
		case "slide":
			return {
				kind,
				drop: countAt(update, "drop", path),
				text: textAt(update, "text", path),
				metadata: metadataAt(update, path),
			};
		case "rewrite":
			return {
				kind,
				drop: countAt(update, "drop", path),
				cut: countAt(update, "cut", path),
				text: textAt(update, "text", path),
				metadata: metadataAt(update, path),
			};
		case "metadata":
			return { kind, metadata: metadataAt(update, path) };
		default:
			throw new WireError(`${path}.kind must be replace, append, slide, rewrite or metadata, not ${show(kind)}`);
	}
}

export function parseView(value: unknown, path = "view"): OutputView {
	const view = fieldsOf(value, path);
	return { text: textAt(view, "text", path), metadata: metadataAt(view, path), head: textAt(view, "head", path) };
}

function metadataAt(fields: Fields, owner: string): OutputMetadata {
	const path = `${owner}.metadata`;
	const metadata = fieldsOf(own(fields, "metadata"), path);
	return {
		truncation: parseTruncation(own(metadata, "truncation"), `${path}.truncation`),
		lastLineBytes: countAt(metadata, "lastLineBytes", path),
		omittedBytes: countAt(metadata, "omittedBytes", path),
		omittedLines: countAt(metadata, "omittedLines", path),
		firstLinePartial: flagAt(metadata, "firstLinePartial", path),
		leadSgr: textAt(metadata, "leadSgr", path),
		binary: flagAt(metadata, "binary", path),
		spillPath: textOrNullAt(metadata, "spillPath", path),
		spillState: oneOfAt(metadata, "spillState", path, SPILL_STATES),
		spillBytes: countAt(metadata, "spillBytes", path),
	};
}

function parseTruncation(value: unknown, path: string): Truncation {
	const truncation = fieldsOf(value, path);
	return {
		truncated: flagAt(truncation, "truncated", path),
		truncatedBy: own(truncation, "truncatedBy") === null ? null : oneOfAt(truncation, "truncatedBy", path, LIMITS),
		totalLines: countAt(truncation, "totalLines", path),
		totalBytes: countAt(truncation, "totalBytes", path),
		outputLines: countAt(truncation, "outputLines", path),
		outputBytes: countAt(truncation, "outputBytes", path),
		lastLinePartial: flagAt(truncation, "lastLinePartial", path),
		firstLineExceedsLimit: flagAt(truncation, "firstLineExceedsLimit", path),
		maxLines: countAt(truncation, "maxLines", path),
		maxBytes: countAt(truncation, "maxBytes", path),
	};
}

function parseStatus(value: unknown, path: string): RunStatus {
	const status = fieldsOf(value, path);
	return {
		state: oneOfAt(status, "state", path, RUN_STATES),
		exitCode: integerOrNullAt(status, "exitCode", path),
		signal: textOrNullAt(status, "signal", path),
		duration: secondsAt(status, "duration", path),
		detail: textAt(status, "detail", path),
		cpuTime: own(status, "cpuTime") === null ? null : secondsAt(status, "cpuTime", path),
		peakMemory: integerOrNullAt(status, "peakMemory", path),
		pipeHeld: countAt(status, "pipeHeld", path),
	};
}
