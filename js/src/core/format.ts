/** The words and figures of the panel. */

import { plainText } from "./spans";
import type { OutputMetadata, OutputView, RunState, RunStatus } from "./wire";

/** One locale for every reader, as in the static text: "168,888,897" must not become "168.888.897" on the next page. */
const COUNT = new Intl.NumberFormat("en-US");
const RATE_UNITS = ["B", "kB", "MB", "GB"] as const;
/** Seconds. Above, a tenth is noise. */
const TENTHS_UNTIL = 10;

export function formatCount(count: number): string {
	return COUNT.format(count);
}

export function formatBytes(bytes: number): string {
	return `${formatCount(bytes)} B`;
}

export function formatLines(lines: number): string {
	return `${formatCount(lines)} ${lines === 1 ? "line" : "lines"}`;
}

/** Seconds as "0.4 s", "12 s", "3 min 05 s", "2 h 07 min": never more than what has passed. */
export function formatDuration(seconds: number): string {
	if (seconds < TENTHS_UNTIL) {
		return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
	}
	const whole = Math.floor(seconds);
	if (whole < 60) {
		return `${whole} s`;
	}
	const minutes = Math.floor(whole / 60);
	if (minutes < 60) {
		return `${minutes} min ${twoDigits(whole % 60)} s`;
	}
	return `${formatCount(Math.floor(minutes / 60))} h ${twoDigits(minutes % 60)} min`;
}

/** Bytes a second in three digits at most, as "840 B/s", "1.2 kB/s", "35 MB/s": what a glance can take in. */
export function formatRate(bytes: number): string {
	let value = Math.round(bytes);
	let unit = 0;
	// From 999.5 on it would round to four digits.
	for (; value >= 999.5 && unit < RATE_UNITS.length - 1; unit += 1) {
		value /= 1000;
	}
	const digits = unit > 0 && value < 9.95 ? 1 : 0;
	return `${value.toFixed(digits)} ${RATE_UNITS[unit]}/s`;
}

/** Seconds of silence, in whole ones: tenths of it tell nothing. */
export function formatQuiet(seconds: number): string {
	return `quiet for ${seconds < TENTHS_UNTIL ? `${Math.floor(seconds)} s` : formatDuration(seconds)}`;
}

/** Seconds until `formatDuration` says something else: when to look again. */
export function untilNextDuration(seconds: number): number {
	const grain = seconds < TENTHS_UNTIL ? 0.1 : seconds < 3600 ? 1 : 60;
	return grain - (seconds % grain);
}

function twoDigits(value: number): string {
	return String(value).padStart(2, "0");
}

/** What a state means to the person who waits: the exit status alone decides between good and bad. */
export type Outcome = "running" | "good" | "bad" | "ended";

export function outcomeOf({ state, exitCode }: RunStatus): Outcome {
	switch (state) {
		case "running":
			return "running";
		case "exited":
			return exitCode === 0 ? "good" : "bad";
		case "stopped":
		case "interrupted":
			return "ended";
		default:
			return "bad";
	}
}

const LABELS: Readonly<Record<RunState, string>> = {
	running: "running",
	exited: "done",
	signaled: "failed",
	stopped: "stopped",
	timeout: "timed out",
	idle_timeout: "timed out, idle",
	spawn_error: "could not start",
	spill_error: "failed · output could not be kept",
	callback_error: "failed · the output's receiver raised",
	worker_lost: "failed · worker lost",
	interrupted: "interrupted",
};

export function stateLabel(status: RunStatus): string {
	if (status.state === "exited" && status.exitCode !== 0) {
		return `failed · exit ${status.exitCode ?? "unknown"}`;
	}
	if (status.state === "signaled") {
		return `failed · ${status.signal ?? "signal"}`;
	}
	return LABELS[status.state];
}

/** That others could still print when it was over, or "". */
export function heldText({ pipeHeld }: RunStatus): string {
	if (pipeHeld === 0) {
		return "";
	}
	return pipeHeld === 1
		? "1 process still holds the output"
		: `${formatCount(pipeHeld)} processes still hold the output`;
}

/** What is said of a run that may still run, or not: nobody here knows any more. */
export const LINK_LABELS = { lost: "no connection", gone: "kernel is gone" } as const;
export const LAST_SEEN = "this is what was last seen";

export type Retain = "tail" | "head" | "both";

/** What the text shows of the whole, "" when that is everything. */
export function shownText({ head, metadata }: OutputView, retain: Retain): string {
	if (metadata.binary) {
		return "binary output, shown as hex";
	}
	if (!metadata.truncation.truncated) {
		return "";
	}
	switch (retain) {
		case "tail":
			return tailText(metadata);
		case "head":
			return headText(metadata);
		case "both":
			return head === "" ? tailText(metadata) : bothText(head, metadata);
	}
}

function tailText(metadata: OutputMetadata): string {
	const { totalLines, lastLinePartial } = metadata.truncation;
	if (lastLinePartial) {
		const line = totalLines === 1 ? "a line" : "the last line";
		const all = totalLines === 1 ? "" : `, ${formatLines(totalLines)} in all`;
		return `end of ${line} of ${formatBytes(metadata.lastLineBytes)}${all}`;
	}
	return `last ${shownLines(metadata)}${metadata.firstLinePartial ? ", the first one cut" : ""}`;
}

function headText(metadata: OutputMetadata): string {
	const { totalLines, firstLineExceedsLimit } = metadata.truncation;
	if (firstLineExceedsLimit) {
		return totalLines === 1 ? "start of a long line" : `start of a long line, ${formatLines(totalLines)} in all`;
	}
	return `first ${shownLines(metadata)}`;
}

function bothText(head: string, { truncation }: OutputMetadata): string {
	const first = head.split("\n").length - (head.endsWith("\n") ? 1 : 0);
	const last = truncation.outputLines - first;
	return `first ${formatCount(first)} and last ${formatCount(last)} of ${formatLines(truncation.totalLines)}`;
}

function shownLines({ truncation }: OutputMetadata): string {
	return `${formatCount(truncation.outputLines)} of ${formatLines(truncation.totalLines)}`;
}

/** The marker between head and tail when both ends are shown. */
export function omissionText({
	omittedBytes,
	omittedLines,
}: Pick<OutputMetadata, "omittedBytes" | "omittedLines">): string {
	return `… ${formatLines(omittedLines)}, ${formatBytes(omittedBytes)} not shown …`;
}

function incompleteText({ spillBytes, spillPath }: OutputMetadata): string {
	const kept = `incomplete after ${formatBytes(spillBytes)}:`;
	return spillPath === null ? `${kept} no file` : kept;
}

/** What the path of the spill leads to, said before it; "" without a spill. */
export function spillText(metadata: OutputMetadata): string {
	switch (metadata.spillState) {
		case "none":
			return metadata.truncation.truncated ? "the rest was not kept" : "";
		case "open":
			return "all output so far:";
		case "complete":
			return "complete output:";
		case "incomplete":
			return incompleteText(metadata);
	}
}

/** What a copy of the shown text is: plain and whole, its long lines too; the marker stands between head and tail. */
export function copiedText({ head, text, metadata }: OutputView): string {
	if (head === "") {
		return plainText(text);
	}
	const start = plainText(head);
	const marker = metadata.omittedBytes > 0 ? `${omissionText(metadata)}\n` : "";
	return `${start}${start.endsWith("\n") ? "" : "\n"}${marker}${plainText(text)}`;
}
