import { expect, it } from "vitest";
import { PLAIN } from "./sgr";
import { penOf, safeLink, spansOf } from "./spans";

const ESC = "\u001b";
const red = { ...PLAIN, foreground: 1 };

it("gives a line without sequences whole", () => {
	expect(spansOf("plain <b>\n", PLAIN)).toEqual({
		spans: [{ text: "plain <b>\n", pen: PLAIN, link: "" }],
		after: PLAIN,
	});
});

it("starts with the pen that the line before left, and says what it leaves", () => {
	const { spans, after } = spansOf(`a${ESC}[0mb${ESC}[31mc`, red);
	expect(spans.map(({ text, pen }) => [text, pen.foreground])).toEqual([
		["a", 1],
		["b", null],
		["c", 1],
	]);
	expect(after).toEqual(red);
});

it("keeps colours and any character within a link", () => {
	const { spans } = spansOf(`[${ESC}]8;;https://example.org/${ESC}\\é${ESC}[31m→${ESC}[0m${ESC}]8;;${ESC}\\]`, PLAIN);
	expect(spans.map(({ text, pen, link }) => [text, pen.foreground, link])).toEqual([
		["[", null, ""],
		["é", null, "https://example.org/"],
		["→", 1, "https://example.org/"],
		["]", null, ""],
	]);
});

it("ends a link with its line", () => {
	expect(spansOf(`${ESC}]8;;https://example.org/${ESC}\\a\n`, PLAIN).spans[0]?.link).toBe("https://example.org/");
	expect(spansOf("b\n", PLAIN).spans[0]?.link).toBe("");
});

it("shows the text of a link that is not safe, without the link", () => {
	expect(spansOf(`${ESC}]8;;javascript:alert(1)${ESC}\\a`, PLAIN).spans).toEqual([{ text: "a", pen: PLAIN, link: "" }]);
});

it("reads a lead of several sequences", () => {
	expect(penOf(`${ESC}[1m${ESC}[31m`, PLAIN)).toEqual({ ...red, bold: true });
	expect(penOf("", PLAIN)).toEqual(PLAIN);
});

it.each(["http://a", "https://example.org/a?b=c&d=%20#e", "HTTPS://EXAMPLE.ORG"])("takes %s for a link", (address) => {
	expect(safeLink(address)).toBe(address);
});

it.each([
	"javascript:alert(1)",
	"data:text/html,x",
	"file:///etc/passwd",
	" https://a",
	"https://a b",
	'https://a"onclick=x',
	"https://a<b>",
	"https://é",
	"https://",
	`https://${"a".repeat(2001)}`,
	"https://a\n",
])("takes %j for no link", (address) => {
	expect(safeLink(address)).toBe("");
});
