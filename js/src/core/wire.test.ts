import { describe, expect, it } from "vitest";
import { metadata, status, view } from "./examples";
import { parseMessage, parseSnapshot } from "./wire";

const update = {
	type: "update",
	seq: 1,
	stream: "output",
	update: { kind: "append", text: "a", metadata: metadata() },
};

describe("parseMessage", () => {
	it("reads every message of the kernel", () => {
		expect(parseMessage(update)).toEqual(update);
		expect(parseMessage({ ...update, stream: "stderr" })).toEqual({ ...update, stream: "stderr" });
		expect(parseMessage({ type: "status", status: status() })).toEqual({ type: "status", status: status() });
		expect(parseMessage({ type: "stopping" })).toEqual({ type: "stopping" });
	});

	it("passes over a type that a newer kernel may send", () => {
		expect(parseMessage({ type: "page", text: "x" })).toBeNull();
	});

	it("leaves behind what it does not know", () => {
		const known = { type: "status", status: status() };
		expect(parseMessage({ ...known, status: { ...status(), extra: 1 } })).toEqual(known);
	});

	const wrong: [name: string, message: unknown, error: string][] = [
		["a text", "stop", "message must be an object, not stop"],
		["null", null, "message must be an object, not null"],
		["a list", [1], "message must be an object, not [1]"],
		["no type", {}, "message.type must be a text, not undefined"],
		["number 0", { ...update, seq: 0 }, "message.seq must count from 1, not 0"],
		["a number that is a text", { ...update, seq: "1" }, "message.seq must be a count, not 1"],
		["no stream", { ...update, stream: undefined }, "message.stream must be one of output, stderr, not undefined"],
		["an unknown stream", { ...update, stream: "stdin" }, "message.stream must be one of output, stderr, not stdin"],
		["no update", { type: "update", seq: 1, stream: "output" }, "message.update must be an object, not undefined"],
		["an unknown kind", { ...update, update: { kind: "move" } }, "message.update.kind must be replace"],
		["text that is none", { ...update, update: { ...update.update, text: { html: "<b>" } } }, 'not {"html":"<b>"}'],
		[
			"metadata of null",
			{ ...update, update: { ...update.update, metadata: null } },
			"message.update.metadata must be",
		],
		[
			"a count that is no number",
			{ ...update, update: { kind: "metadata", metadata: metadata({}, { totalBytes: Number.NaN }) } },
			"message.update.metadata.truncation.totalBytes must be a count, not NaN",
		],
		[
			"a count that a double does not hold",
			{ ...update, update: { kind: "metadata", metadata: metadata({ omittedBytes: 2 ** 53 }) } },
			"message.update.metadata.omittedBytes must be a count",
		],
		[
			"an unknown state",
			{ type: "status", status: { ...status(), state: "constructor" } },
			"message.status.state must be one of running, ",
		],
		[
			"a duration without end",
			{ type: "status", status: { ...status(), duration: Number.POSITIVE_INFINITY } },
			"message.status.duration must be a number of seconds",
		],
		["fields that are only inherited", Object.create(update), "message.type must be a text, not undefined"],
	];
	for (const [name, message, error] of wrong) {
		it(`refuses ${name}`, () => expect(() => parseMessage(message)).toThrow(error));
	}

	it("repeats a wrong value only in part", () => {
		expect(() => parseMessage("x".repeat(1_000_000))).toThrow(/^.{0,120}$/);
	});
});

describe("parseSnapshot", () => {
	it("reads a snapshot with and without each of the views", () => {
		for (const output of [null, view("a\n")]) {
			for (const stderr of [null, view("b\n")]) {
				const parsed = parseSnapshot({ seq: 3, output, stderr, status: status(), quiet: 1.5 });
				expect(parsed).toEqual({ seq: 3, views: { output, stderr }, status: status(), quiet: 1.5 });
			}
		}
	});

	it("refuses one that says nothing of a view", () => {
		const whole = { seq: 3, output: null, stderr: null, status: status(), quiet: 0 };
		for (const name of ["output", "stderr"]) {
			const error = `snapshot.${name} must be an object, not undefined`;
			expect(() => parseSnapshot({ ...whole, [name]: undefined })).toThrow(error);
		}
	});
});
