import { expect, it } from "vitest";
import { applySgr, type Pen, PLAIN, samePen } from "./sgr";

const table: [parameters: string, pen: Partial<Pen>][] = [
	["1", { bold: true }],
	["1;31", { bold: true, foreground: 1 }],
	["2;3;4;7;8;9", { faint: true, italic: true, underline: true, inverse: true, conceal: true, strike: true }],
	["97;107", { foreground: 15, background: 15 }],
	["38;5;208", { foreground: 208 }],
	["48;2;1;2;3", { background: [1, 2, 3] }],
	["38:2::1:2:3", { foreground: [1, 2, 3] }],
	["38:2:1:2:3", { foreground: [1, 2, 3] }],
	["38:5:9;1", { foreground: 9, bold: true }],
	["38;5;9;4", { foreground: 9, underline: true }],
	["58;5;9;4", { underline: true }],
	["4:3", { underline: true }],
	["38;5;256", {}],
	["38;2;1;2", {}],
	["38", {}],
	["31;39", {}],
	["1;22", {}],
	["1;0", {}],
	["1;", {}],
	["", {}],
	["5;73;999", {}],
];

for (const [parameters, pen] of table) {
	it(`reads "${parameters}"`, () => expect(applySgr(PLAIN, parameters)).toEqual({ ...PLAIN, ...pen }));
}

it("holds pens for the same that draw alike", () => {
	expect(samePen(applySgr(PLAIN, "38;2;1;2;3"), applySgr(PLAIN, "38:2::1:2:3"))).toBe(true);
	expect(samePen(PLAIN, applySgr(PLAIN, "30"))).toBe(false);
});
