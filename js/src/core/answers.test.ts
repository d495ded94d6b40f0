import { describe, expect, it } from "vitest";
import { bytesOfBase64, parseAnswer } from "./answers";

const page = { type: "page", id: 7, size: 10, length: 3, base64: null };
const older = { type: "older", id: 7, begins: 5, lines: 1, newlines: 2, text: "a\n", leadSgr: "" };
const refused = { type: "refused", id: 7, reason: "gone", retry: false };
const bytes = new Uint8Array([1, 2, 3]);

describe("an answer", () => {
	it.each([
		["a view of a larger buffer", [new DataView(new Uint8Array([0, 1, 2, 3]).buffer, 1)]],
		["a buffer", [bytes.buffer]],
	])("has its bytes in %s", (_, buffers) => {
		expect(parseAnswer(page, buffers)).toEqual({ type: "page", id: 7, size: 10, bytes });
	});

	it("has its bytes in text, where that was asked for", () => {
		expect(parseAnswer({ ...page, base64: "AQID" }, [])).toEqual({ type: "page", id: 7, size: 10, bytes });
	});

	it.each([undefined, [], [null], ["AQID"]])("is known to have lost its bytes: %j", (buffers) => {
		expect(parseAnswer(page, buffers)).toEqual({ type: "page", id: 7, size: 10, bytes: null });
	});

	it("without bytes has none to lose", () => {
		expect(parseAnswer({ ...page, length: 0 }, [])).toEqual({ type: "page", id: 7, size: 10, bytes: new Uint8Array() });
	});

	it.each([older, refused])("is taken as it is: $type", (answer) => {
		expect(parseAnswer(answer, [])).toEqual(answer);
	});

	it.each([{ type: "update", seq: 1 }, { type: "stopping" }])("is nothing else: $type", (message) => {
		expect(parseAnswer(message, [])).toBeNull();
	});

	it.each([
		[{ ...page, id: "7" }, "message.id must be a count, not 7"],
		[{ ...page, length: 4 }, "message.length must be that of its bytes, 3, not 4"],
		[{ ...page, base64: "A*ID" }, "message.base64 must be base64, not A*ID"],
		[{ ...older, text: 5 }, "message.text must be a text, not 5"],
		[{ ...older, begins: -1 }, "message.begins must be a count, not -1"],
		[{ ...refused, retry: 1 }, "message.retry must be true or false, not 1"],
	])("that is malformed is refused: %j", (message, words) => {
		expect(() => parseAnswer(message, [bytes])).toThrow(words);
	});
});

it("base64 is read as others write it", () => {
	for (let length = 0; length < 70; length += 1) {
		const data = Uint8Array.from({ length }, (_, index) => (index * 67 + length) % 256);
		expect(bytesOfBase64(Buffer.from(data).toString("base64"))).toEqual(data);
	}
});
