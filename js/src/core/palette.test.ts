import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import golden from "../../../tests/golden/palette.json";
import { inkOf, readable } from "./ink";
import { ANSI, BACKGROUND, contrast, FOREGROUND, indexed, READABLE, type Rgb, rgbOf } from "./palette";
import { applySgr, PLAIN } from "./sgr";

const ground = rgbOf(BACKGROUND);

describe("the palette", () => {
	it("is the one that Python has", () => {
		expect({ background: BACKGROUND, foreground: FOREGROUND, ansi: [...ANSI] }).toEqual(golden);
	});

	it.each([FOREGROUND, ...ANSI])("has %s, which reads on the background", (colour) => {
		expect(contrast(rgbOf(colour), ground)).toBeGreaterThanOrEqual(READABLE);
	});

	it("is the one of the stylesheet", () => {
		const css = readFileSync(new URL("../dom/panel.css", import.meta.url), "utf8");
		for (const colour of [BACKGROUND, FOREGROUND, ANSI[1], ANSI[2], ANSI[3], ANSI[4]]) {
			expect(css).toContain(colour);
		}
	});

	it("measures contrast as WCAG does", () => {
		expect(contrast([0, 0, 0], [255, 255, 255])).toBeCloseTo(21, 5);
		expect(contrast([118, 118, 118], [255, 255, 255])).toBeCloseTo(4.54, 2);
	});

	it("knows the cube and the greys of xterm", () => {
		expect([16, 21, 196, 208, 231, 232, 255].map(indexed)).toEqual([
			[0, 0, 0],
			[0, 0, 255],
			[255, 0, 0],
			[255, 135, 0],
			[255, 255, 255],
			[8, 8, 8],
			[238, 238, 238],
		]);
	});
});

describe("ink", () => {
	it("leaves plain text to the panel", () => {
		expect(inkOf(PLAIN)).toEqual({ colour: null, background: null });
		expect(inkOf({ ...PLAIN, bold: true })).toEqual({ colour: null, background: null });
	});

	it("takes a colour that reads as it is", () => {
		expect(inkOf(applySgr(PLAIN, "31")).colour).toEqual(rgbOf(ANSI[1]));
	});

	it("swaps both colours for inverse", () => {
		expect(inkOf(applySgr(PLAIN, "7"))).toEqual({ colour: ground, background: rgbOf(FOREGROUND) });
	});

	it("hides what is concealed in its own background", () => {
		expect(inkOf(applySgr(PLAIN, "8;41"))).toEqual({ colour: rgbOf(ANSI[1]), background: rgbOf(ANSI[1]) });
	});

	it("makes every pair of the sixteen, and every dark or faint colour, read", () => {
		const codes = [...Array(256).keys()].flatMap((index) => [`38;5;${index}`, `2;38;5;${index}`, `48;5;${index}`]);
		const pairs = [...Array(256).keys()].map((pair) => `38;5;${pair >> 4};48;5;${pair & 15}`);
		for (const parameters of [...codes, ...pairs, "38;2;0;0;0", "2;7"]) {
			const { colour, background } = inkOf(applySgr(PLAIN, parameters));
			const text: Rgb = colour ?? rgbOf(FOREGROUND);
			expect(contrast(text, background ?? ground), parameters).toBeGreaterThanOrEqual(READABLE);
		}
	});

	it("keeps the hue of what it lightens", () => {
		const [red, green, blue] = readable([120, 0, 0], ground);
		expect(red).toBeGreaterThan(green);
		expect(green).toBe(blue);
	});
});
