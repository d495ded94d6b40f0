import { describe, expect, it } from "vitest";
import { metadata, status, view } from "./examples";
import * as format from "./format";

it.each([
	[0, "0 B"],
	[8, "8 B"],
	[168_888_897, "168,888,897 B"],
])("writes %d bytes exactly", (bytes, text) => expect(format.formatBytes(bytes)).toBe(text));

it.each([
	[0, "0 lines"],
	[1, "1 line"],
	[20_000_000, "20,000,000 lines"],
])("writes %d lines", (lines, text) => expect(format.formatLines(lines)).toBe(text));

it.each([
	[0, "0.0 s"],
	[0.44, "0.4 s"],
	[9.99, "9.9 s"],
	[10, "10 s"],
	[12.9, "12 s"],
	[59.99, "59 s"],
	[60, "1 min 00 s"],
	[185, "3 min 05 s"],
	[3599, "59 min 59 s"],
	[3600, "1 h 00 min"],
	[7_620, "2 h 07 min"],
	[360_000, "100 h 00 min"],
])("writes %d seconds", (seconds, text) => expect(format.formatDuration(seconds)).toBe(text));

it.each([
	[0, "0 B/s"],
	[839.6, "840 B/s"],
	[999.4, "999 B/s"],
	[999.6, "1.0 kB/s"],
	[9_940, "9.9 kB/s"],
	[9_960, "10 kB/s"],
	[999_400, "999 kB/s"],
	[999_600, "1.0 MB/s"],
	[1_250_000_000_000, "1250 GB/s"],
])("writes a rate of %d bytes a second", (rate, text) => expect(format.formatRate(rate)).toBe(text));

it.each([
	[5.9, "quiet for 5 s"],
	[75, "quiet for 1 min 15 s"],
])("writes %d seconds of silence", (seconds, text) => expect(format.formatQuiet(seconds)).toBe(text));

it.each([0, 0.44, 9.95, 10.5, 59.9, 61, 3599.5, 3700])("says when %d seconds will read differently", (seconds) => {
	const next = seconds + format.untilNextDuration(seconds);
	expect(format.formatDuration(next + 0.01)).not.toBe(format.formatDuration(seconds));
	expect(format.formatDuration(next - 0.01)).toBe(format.formatDuration(seconds));
});

it.each([
	[status(), "running", "running"],
	[status({ state: "exited", exitCode: 0 }), "done", "good"],
	[status({ state: "exited", exitCode: 3 }), "failed · exit 3", "bad"],
	[status({ state: "signaled", signal: "SIGTERM", exitCode: 143 }), "failed · SIGTERM", "bad"],
	[status({ state: "stopped" }), "stopped", "ended"],
	[status({ state: "timeout" }), "timed out", "bad"],
	[status({ state: "interrupted" }), "interrupted", "ended"],
	[status({ state: "spawn_error" }), "could not start", "bad"],
])("names %j", (value, label, outcome) => {
	expect(format.stateLabel(value)).toBe(label);
	expect(format.outcomeOf(value)).toBe(outcome);
});

describe("what is shown", () => {
	const cut = { truncated: true, totalLines: 20_000_000, outputLines: 2000 };
	const table: [text: string, retain: format.Retain, facts: ReturnType<typeof metadata>][] = [
		["", "tail", metadata({}, { totalLines: 3, outputLines: 3 })],
		["last 2,000 of 20,000,000 lines", "tail", metadata({}, cut)],
		["last 2,000 of 20,000,000 lines, the first one cut", "tail", metadata({ firstLinePartial: true }, cut)],
		["first 2,000 of 20,000,000 lines", "head", metadata({}, cut)],
		["last 2,000 of 20,000,000 lines", "both", metadata({}, cut)],
		[
			"end of a line of 100,001 B",
			"tail",
			metadata({ lastLineBytes: 100_001 }, { truncated: true, lastLinePartial: true, totalLines: 1 }),
		],
		[
			"end of the last line of 100,001 B, 3 lines in all",
			"tail",
			metadata({ lastLineBytes: 100_001 }, { truncated: true, lastLinePartial: true, totalLines: 3 }),
		],
		["start of a long line", "head", metadata({}, { truncated: true, firstLineExceedsLimit: true, totalLines: 1 })],
		["binary output, shown as hex", "tail", metadata({ binary: true }, cut)],
	];
	it("names both ends where there are two", () => {
		const facts = metadata({}, { truncated: true, totalLines: 1_000_000, outputLines: 4 });
		expect(format.shownText(view("2\n3\n4\n", facts, "1\n"), "both")).toBe("first 1 and last 3 of 1,000,000 lines");
		expect(format.shownText(view("2\n3\n4\n", facts, "1"), "both")).toBe("first 1 and last 3 of 1,000,000 lines");
	});
	for (const [text, retain, facts] of table) {
		it(`is "${text}"`, () => expect(format.shownText(view("x", facts), retain)).toBe(text));
	}
});

it("says where the rest is, or that it is nowhere", () => {
	const cut = { truncated: true };
	expect(format.spillText(metadata())).toBe("");
	expect(format.spillText(metadata({}, cut))).toBe("the rest was not kept");
	expect(format.spillText(metadata({ spillState: "open" }, cut))).toBe("all output so far:");
	expect(format.spillText(metadata({ spillState: "complete" }, cut))).toBe("complete output:");
	const broken = { spillState: "incomplete", spillBytes: 4096, spillPath: "/x/output.log" } as const;
	expect(format.spillText(metadata(broken, cut))).toBe("incomplete after 4,096 B:");
	expect(format.spillText(metadata({ ...broken, spillPath: null, spillBytes: 0 }, cut))).toBe(
		"incomplete after 0 B: no file",
	);
});

it.each([
	[view("\u001b[31ma\u001b[0m\u202e\n"), "a\u202e\n"],
	[view("z\n", metadata({ omittedBytes: 10, omittedLines: 5 }), "a"), "a\n… 5 lines, 10 B not shown …\nz\n"],
	[view("b\n", metadata(), "a\n"), "a\nb\n"],
])("copies %j as text", (output, text) => expect(format.copiedText(output)).toBe(text));
