import { describe, expect, it } from "vitest";
import { addsLines, align, changed, compose, NO_CHANGE, type TextChange } from "./change";

describe("compose", () => {
	it("says in one change what two say in a row, wherever they meet", () => {
		const text = "abcdef";
		for (const first of allChanges(text.length, "XYZ")) {
			const middle = changed(text, first);
			for (const second of allChanges(middle.length, "12")) {
				const both = compose(text.length, first, second);
				expect(changed(text, both)).toBe(changed(middle, second));
			}
		}
	});

	it("keeps a change as it is when nothing follows", () => {
		const change = { drop: 1, cut: 0, text: "x" };
		expect(compose(5, change, NO_CHANGE)).toBe(change);
	});

	it("stays as small as the text however many slides it takes", () => {
		let change: TextChange = NO_CHANGE;
		for (let round = 0; round < 1000; round += 1) {
			change = compose(4, change, { drop: 4, cut: 0, text: "abcd" });
		}
		expect(change).toEqual({ drop: 4, cut: 0, text: "abcd" });
	});
});

describe("align", () => {
	const table: [name: string, before: string, after: string, gone: number, change: TextChange][] = [
		["adds to a text that only grew", "a\nb", "a\nbc\n", 0, { drop: 0, cut: 0, text: "c\n" }],
		["finds nothing to do between equal texts", "a\n", "a\n", 0, { drop: 0, cut: 0, text: "" }],
		["fills an empty text", "", "a\n", 0, { drop: 0, cut: 0, text: "a\n" }],
		["empties a text", "a\n", "", 0, { drop: 2, cut: 0, text: "" }],
		["drops the lines that left", "a\nb\nc\n", "b\nc\nd\n", 1, { drop: 2, cut: 0, text: "d\n" }],
		[
			"drops the front of a line that is now shown by its end",
			"a\nlong\nc\n",
			"ng\nc\nd\n",
			1,
			{ drop: 4, cut: 0, text: "d\n" },
		],
		["cuts the lines that were rewritten", "a\nb\n 50%", "b\n 60%", 1, { drop: 2, cut: 4, text: " 60%" }],
		["lets an unfinished line grow", "a\nb", "bc\nd", 1, { drop: 2, cut: 0, text: "c\nd" }],
		["replaces everything when nothing stayed", "a\nb\n", "x\ny\n", 2, { drop: 4, cut: 0, text: "x\ny\n" }],
		["replaces everything when more lines left than there were", "a\nb\n", "x\n", 90, { drop: 4, cut: 0, text: "x\n" }],
	];
	for (const [name, before, after, gone, change] of table) {
		it(name, () => expect(align(before, after, gone)).toEqual(change));
	}

	it("is right whatever it is told of the lines that left", () => {
		const texts = ["", "a", "a\n", "a\nb", "a\nb\n", "b\na\n", "\n\n", "ab\nb\n", "\u{1F600}\nb", "x\u{1F600}\nb"];
		for (const before of texts) {
			for (const after of texts) {
				for (const gone of [0, 1, 2, 3]) {
					expect(changed(before, align(before, after, gone))).toBe(after);
				}
			}
		}
	});
});

function allChanges(length: number, text: string): TextChange[] {
	const changes: TextChange[] = [];
	for (let drop = 0; drop <= length; drop += 1) {
		for (let cut = 0; drop + cut <= length; cut += 1) {
			changes.push({ drop, cut, text: "" }, { drop, cut, text });
		}
	}
	return changes;
}

it.each([
	["", 1, false],
	["a", 1, false],
	["a\n", 1, true],
	["a\nb", 2, false],
	["a\n\n", 2, true],
	["\n\n\n\n", 3, true],
])("knows whether %j adds %i lines", (text, lines, expected) => {
	expect(addsLines({ drop: 5, cut: 1, text }, lines)).toBe(expected);
});
