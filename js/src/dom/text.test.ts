import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { changed, NO_CHANGE, type TextChange } from "../core/change";
import { PLAIN } from "../core/sgr";
import { TextNodes } from "./text";

const ESC = "\u001b";
const SEQUENCES = new RegExp(`${ESC}\\[[0-9;]*m|${ESC}\\]8;;[^${ESC}]*${ESC}\\\\`, "g");

const life = new AbortController();
let root: HTMLElement;
let nodes: TextNodes;
let text: string;

beforeEach(() => {
	root = document.createElement("div");
	nodes = new TextNodes(root, life.signal);
	text = "";
});

afterEach(() => {
	vi.useRealTimers();
});

function apply(change: Partial<TextChange>, lead = PLAIN): void {
	const whole = { ...NO_CHANGE, ...change };
	text = changed(text, whole);
	nodes.apply(whole, lead);
}

/** As the browser does when all chunks come near to what is seen, which is where someone reads. */
function paintAll(): void {
	nodes.read = true;
	for (const chunk of root.children) {
		chunk.dispatchEvent(new Event("contentvisibilityautostatechange"));
	}
	nodes.read = false;
}

const shown = (elements: Iterable<Element>) => [...elements].map(({ textContent }) => textContent).join("");
const lines = () => [...root.querySelectorAll<HTMLElement>(".boundcap-line")];

describe("the nodes", () => {
	it("hold the text of the view, line by line", () => {
		apply({ text: "a\n\nb\tc\nd" });
		expect(lines().map((line) => line.textContent)).toEqual(["a\n", "\n", "b\tc\n", "d"]);
	});

	it("follow any changes", () => {
		const random = generator(7);
		for (let round = 0; round < 2000; round += 1) {
			const drop = random(4) === 0 ? random(text.length + 1) : 0;
			const cut = random(4) === 0 ? random(text.length - drop + 1) : 0;
			const added = Array.from({ length: random(12) }, () => ["a", "b\n", "\n", "cd"][random(4)]).join("");
			// Long enough now and then for several chunks.
			apply({ drop, cut, text: random(40) === 0 ? "x\n".repeat(random(450)) : added });
			expect(text.endsWith(shown([...root.children].slice(-2)))).toBe(true);
			if (random(3) === 0) {
				paintAll();
				expect(root.textContent).toBe(text);
			}
			expect(lines().every((line) => /^[^\n]*\n?$/.test(line.textContent ?? ""))).toBe(true);
		}
	});

	it("of lines that stay are the same nodes after a slide and a rewrite", () => {
		apply({ text: "a\nb\nc\n 50%" });
		const [, b, c] = lines();
		apply({ drop: 2, cut: 4, text: " 60%" });
		expect(lines()[0]).toBe(b);
		expect(lines()[1]).toBe(c);
	});

	it("stand in chunks of a hundred lines, and leave none behind", () => {
		apply({ text: "x\n".repeat(250) });
		expect(root.children).toHaveLength(3);
		apply({ drop: 2 * 120 });
		expect(root.children).toHaveLength(2);
		apply({ drop: 2 * 130 });
		expect(root.children).toHaveLength(0);
	});
});

describe("what nobody has come near yet", () => {
	const painted = () => [...root.children].map((chunk) => chunk.childNodes.length > 0);
	const numbered = (from: number, count: number) =>
		Array.from({ length: count }, (_, index) => `${from + index}\n`).join("");

	beforeEach(() => {
		vi.useFakeTimers();
	});

	it("is painted when it has been there for a while, from the end on", () => {
		apply({ text: numbered(0, 600) });
		expect(painted()).toEqual([false, false, false, false, true, true]);
		vi.advanceTimersByTime(900);
		apply({ text: numbered(600, 100) });
		expect(painted()).toEqual([false, false, false, false, true, true, true]);
		vi.advanceTimersByTime(100);
		expect(painted()).toEqual([false, false, false, true, true, true, true]);
		vi.advanceTimersByTime(10);
		expect(root.textContent).toBe(text);
	});

	it("never is where all is new all the time", () => {
		for (let round = 0; round < 20; round += 1) {
			apply({ drop: text.length, text: numbered(2000 * round, 2000) });
			vi.advanceTimersByTime(500);
			expect(painted().filter(Boolean)).toHaveLength(2);
		}
	});

	it("is painted although other lines keep coming", () => {
		apply({ text: numbered(0, 600) });
		for (let round = 0; round < 20; round += 1) {
			apply({ text: "a\n" });
			vi.advanceTimersByTime(100);
		}
		expect(root.textContent).toBe(text);
	});

	it("is painted at once where a reader goes", () => {
		apply({ text: numbered(0, 600) });
		nodes.read = true;
		vi.advanceTimersByTime(10);
		expect(root.textContent).toBe(text);
		apply({ text: numbered(600, 600) });
		vi.advanceTimersByTime(10);
		expect(root.textContent).toBe(text);
		nodes.read = false;
		apply({ text: numbered(1200, 600) });
		vi.advanceTimersByTime(10);
		expect(root.textContent).not.toBe(text);
	});

	it("is found by its place", () => {
		apply({ text: numbered(0, 600) });
		const [first] = root.children;
		const at = (bottom: number) => () => ({ bottom }) as DOMRect;
		for (const chunk of root.children) {
			(chunk as HTMLElement).getBoundingClientRect = at(chunk === first ? 100 : 200);
		}
		vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(at(60));
		expect(nodes.lineAt(50)?.textContent).toBe("0\n");
		vi.restoreAllMocks();
	});

	it("keeps its colours, also those that reach into it", () => {
		apply({ text: `${ESC}[31ma\n${"b\n".repeat(150)}${ESC}[0m${"c\n".repeat(300)}` });
		apply({ drop: 7 }, { ...PLAIN, foreground: 1 });
		const fresh = document.createElement("div");
		new TextNodes(fresh, life.signal).apply({ ...NO_CHANGE, text }, { ...PLAIN, foreground: 1 });
		vi.advanceTimersByTime(2000);
		expect(merged(root)).toBe(merged(fresh));
		expect(root.querySelectorAll("span")).toHaveLength(150);
		expect(root.querySelector("span")?.style.color).not.toBe("");
	});

	it("leaves no timer behind when its panel goes", () => {
		const panel = new AbortController();
		new TextNodes(root, panel.signal).apply({ ...NO_CHANGE, text: numbered(0, 600) }, PLAIN);
		expect(vi.getTimerCount()).toBe(1);
		panel.abort();
		expect(vi.getTimerCount()).toBe(0);
	});
});

describe("colours", () => {
	const colours = () =>
		[...root.querySelectorAll<HTMLElement>("span")].map(({ textContent, style }) => [textContent, style.color]);

	it("go on from line to line", () => {
		apply({ text: `${ESC}[31ma\nb\n${ESC}[0mc\n` });
		expect(colours().map(([shown]) => shown)).toEqual(["a\n", "b\n"]);
	});

	it("come from the lead where the text starts", () => {
		const red = { ...PLAIN, foreground: 1 };
		apply({ text: "a\n" }, red);
		expect(colours()).toHaveLength(1);
	});

	it("stay as they are when a slide brings the lead that the first line has", () => {
		apply({ text: `${ESC}[31ma\nb\nc\n` });
		const span = lines()[1]?.firstChild;
		apply({ drop: 7 }, { ...PLAIN, foreground: 1 });
		expect(lines()[0]?.firstChild).toBe(span);
	});

	it("are painted again as far as another lead reaches", () => {
		apply({ text: `a\nb${ESC}[0m\nc\n` });
		const c = lines()[2]?.firstChild;
		apply({}, { ...PLAIN, foreground: 1 });
		expect(colours().map(([shown]) => shown)).toEqual(["a\n", "b"]);
		expect(lines()[2]?.firstChild).toBe(c);
	});

	it("are right after any changes: as if the whole text were painted afresh", () => {
		const random = generator(11);
		const pieces = ["a", "b\n", `${ESC}[31m`, `${ESC}[0m`, `${ESC}[1m`, "\n"];
		for (let round = 0; round < 300; round += 1) {
			// Changes of a view never split a sequence: cut and drop whole lines, or all.
			const first = text.indexOf("\n") + 1;
			const last = text.lastIndexOf("\n", text.length - 2) + 1;
			const drop = random(2) === 0 ? first : 0;
			const cut = random(3) === 0 && last >= drop ? text.length - last : 0;
			const lead = random(5) === 0 ? { ...PLAIN, foreground: random(3) } : PLAIN;
			apply({ drop, cut, text: Array.from({ length: random(6) }, () => pieces[random(6)]).join("") }, lead);
			const fresh = document.createElement("div");
			new TextNodes(fresh, life.signal).apply({ ...NO_CHANGE, text }, lead);
			expect(merged(root)).toBe(merged(fresh));
			expect(root.textContent).toBe(text.replace(SEQUENCES, ""));
		}
	});
});

describe("a stranger's text", () => {
	it("is text: no element and no handler comes of it", () => {
		const hostile = [
			"<img src=x onerror=alert(1)>",
			"<script>alert(1)</script>",
			"</div><b>&amp;&lt;",
			`${ESC}]8;;https://a"onclick="alert(1)${ESC}\\x${ESC}]8;;${ESC}\\`,
			`${ESC}]8;;javascript:alert(1)${ESC}\\y${ESC}]8;;${ESC}\\`,
			`${ESC}[31;<b>mz`,
		].join("\n");
		apply({ text: hostile });
		expect([...root.querySelectorAll("*")].map(({ tagName }) => tagName).every((tag) => tag === "DIV")).toBe(true);
		expect(root.textContent).toContain("<img src=x onerror=alert(1)>");
	});

	it("becomes a link only to http and https, which opens apart", () => {
		apply({ text: `${ESC}]8;;https://example.org/${ESC}\\here${ESC}]8;;${ESC}\\` });
		const link = root.querySelector("a");
		expect(link?.getAttribute("href")).toBe("https://example.org/");
		expect(link?.rel).toBe("noopener noreferrer");
		expect(link?.target).toBe("_blank");
		expect(link?.textContent).toBe("here");
	});
});

/** The markup with line ends and chunks left out: where chunks begin depends on what came before. */
function merged(node: HTMLElement): string {
	return [...node.querySelectorAll(".boundcap-line")].map((line) => line.innerHTML).join("|");
}

/** Whole numbers below a bound, the same in every run (mulberry32). */
function generator(seed: number): (bound: number) => number {
	let state = seed;
	return (bound) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
	};
}

describe("a long line", () => {
	const long = "x".repeat(5000);
	const more = () => root.querySelector<HTMLButtonElement>("button.boundcap-more");

	it("is shown by its beginning, and whole after a click, and less after another", () => {
		apply({ text: `a\n${long}y\nb\n` });
		const line = lines()[1];
		expect(line?.textContent).toBe(`${"x".repeat(4096)}+905\n`);
		expect(more()?.getAttribute("aria-expanded")).toBe("false");
		more()?.click();
		expect(line?.textContent).toBe(`${long}yless\n`);
		expect(more()?.getAttribute("aria-expanded")).toBe("true");
		more()?.click();
		expect(line?.textContent).toBe(`${"x".repeat(4096)}+905\n`);
	});

	it("that grows is shown by its end, with the same button all the while, open or not", () => {
		apply({ text: long });
		const button = more();
		apply({ text: "yz" });
		expect(root.textContent).toBe(`+906${"x".repeat(4094)}yz`);
		expect(more()).toBe(button);
		button?.click();
		apply({ text: "!" });
		expect(root.textContent).toBe(`less${long}yz!`);
		expect(more()).toBe(button);
	});

	it("leaves the text of others and the colours behind it as they are", () => {
		apply({ text: `${ESC}[31m${long}\nb\n` });
		expect(lines()[1]?.querySelector("span")?.textContent).toBe("b\n");
	});

	it("that an escape sequence alone makes long is no long line", () => {
		apply({ text: `${`${ESC}[31m`.repeat(1000)}short\n` });
		expect(more()).toBeNull();
		expect(root.textContent).toBe("short\n");
	});
});

describe("a line that grows", () => {
	it("keeps its nodes, and with them what is selected", () => {
		apply({ text: "50 %" });
		const node = lines()[0]?.firstChild;
		apply({ text: " done" });
		expect(lines()[0]?.childNodes).toHaveLength(1);
		expect(lines()[0]?.firstChild).toBe(node);
		expect(root.textContent).toBe("50 % done");
	});
});

describe("characters that turn the direction of text", () => {
	it("stand alone, each in an isolate, and are still there", () => {
		const text_ = "a\u202eb\u2066c\u200fd\u061c\n";
		apply({ text: text_ });
		expect(root.textContent).toBe(text_);
		expect([...root.querySelectorAll("bdi")].map(({ textContent }) => textContent)).toEqual([
			"\u202e",
			"\u2066",
			"\u200f",
			"\u061c",
		]);
		apply({ cut: 1, text: "\u202ee\n" });
		expect(root.querySelectorAll("bdi")).toHaveLength(5);
	});
});
