/** Values for tests: complete, plausible, and changed only where a test says so. */

import type { OutputMetadata, OutputView, RunStatus, Truncation } from "./wire";

export function metadata(
	changes: Partial<Omit<OutputMetadata, "truncation">> = {},
	truncation: Partial<Truncation> = {},
): OutputMetadata {
	return {
		truncation: {
			truncated: false,
			truncatedBy: null,
			totalLines: 0,
			totalBytes: 0,
			outputLines: 0,
			outputBytes: 0,
			lastLinePartial: false,
			firstLineExceedsLimit: false,
			maxLines: 2000,
			maxBytes: 51200,
			...truncation,
		},
		lastLineBytes: 0,
		omittedBytes: 0,
		omittedLines: 0,
		firstLinePartial: false,
		leadSgr: "",
		binary: false,
		spillPath: null,
		spillState: "none",
		spillBytes: 0,
		...changes,
	};
}

export function view(text: string, facts: OutputMetadata = metadata(), head = ""): OutputView {
	return { text, metadata: facts, head };
}

export function status(changes: Partial<RunStatus> = {}): RunStatus {
	return {
		state: "running",
		exitCode: null,
		signal: null,
		duration: 0,
		detail: "",
		cpuTime: null,
		peakMemory: null,
		pipeHeld: 0,
		...changes,
	};
}
