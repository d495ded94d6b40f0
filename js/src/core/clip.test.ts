import { describe, expect, it } from "vitest";
import { clip, LONGEST_LINE } from "./clip";
import { PLAIN } from "./sgr";

const spans = (...texts: string[]) => texts.map((text) => ({ text, pen: PLAIN, link: "" }));
const shown = (texts: string[], end: boolean) => {
	const { spans: kept, hidden } = clip(spans(...texts), end);
	return [kept.map(({ text }) => text).join(""), hidden];
};
const full = "x".repeat(LONGEST_LINE);

describe("a line", () => {
	it("of no more than the limit is whole", () => expect(shown([full], false)).toEqual([full, 0]));

	it("that is longer is shown by its beginning", () => {
		expect(shown([`${full}yz`], false)).toEqual([full, 2]);
		expect(shown([full.slice(3), "abcd", "yz"], false)).toEqual([`${full.slice(3)}abc`, 3]);
	});

	it("that still grows is shown by its end", () => {
		expect(shown([`yz${full}`], true)).toEqual([full, 2]);
		expect(shown(["yz", "abcd", full.slice(3)], true)).toEqual([`bcd${full.slice(3)}`, 3]);
	});

	it("is cut between characters, which are what is counted", () => {
		expect(shown([`${full.slice(1)}🎉🎉`], false)).toEqual([full.slice(1), 2]);
		expect(shown([`🎉🎉${full.slice(1)}`], true)).toEqual([full.slice(1), 2]);
	});
});
