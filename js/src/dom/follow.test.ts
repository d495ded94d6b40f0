import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Follow } from "./follow";

/** Rows of 10 pixels in an area of 100; happy-dom lays nothing out, so the test does. */
const ROW = 10;
const HEIGHT = 100;

let area: HTMLElement;
let rows: number;
let follow: Follow;
let changes: boolean[];

beforeEach(() => {
	area = document.createElement("div");
	rows = 50;
	changes = [];
	let top = 0;
	Object.defineProperties(area, {
		clientHeight: { get: () => HEIGHT },
		scrollHeight: { get: () => rows * ROW },
		scrollTop: {
			get: () => top,
			set: (value: number) => {
				top = Math.max(0, Math.min(value, rows * ROW - HEIGHT));
			},
		},
	});
	const { signal } = new AbortController();
	follow = new Follow(
		area,
		document.createElement("div"),
		() => null,
		() => changes.push(follow.following),
		signal,
	);
	follow.keep(() => {});
});

afterEach(() => vi.unstubAllGlobals());

function scrollTo(top: number): void {
	area.scrollTop = top;
	area.dispatchEvent(new Event("scroll"));
}

const grow = (by: number) => follow.keep(() => (rows += by));
const atEnd = () => area.scrollTop + HEIGHT === rows * ROW;

describe("the reader at the end", () => {
	it("stays there while the text grows and shrinks", () => {
		grow(30);
		expect(atEnd()).toBe(true);
		grow(-60);
		expect(atEnd()).toBe(true);
	});

	it("is not taken for one who left when the text grew before the event of the last scroll", () => {
		rows += 30;
		area.dispatchEvent(new Event("scroll"));
		grow(1);
		expect(follow.following).toBe(true);
		expect(atEnd()).toBe(true);
	});
});

describe("the reader who scrolled up", () => {
	beforeEach(() => scrollTo(200));

	it("is let go, and stays where they are", () => {
		grow(30);
		expect(follow.following).toBe(false);
		expect(area.scrollTop).toBe(200);
	});

	it("is not caught again on the way, but at the end", () => {
		scrollTo(300);
		expect(follow.following).toBe(false);
		scrollTo(398);
		expect(follow.following).toBe(true);
		grow(30);
		expect(atEnd()).toBe(true);
	});

	it("comes back at a wish", () => {
		follow.toEnd();
		expect(atEnd()).toBe(true);
		expect(changes).toEqual([false, true]);
	});
});

describe("the line of a reader who scrolled up", () => {
	let lineTop: number;
	let kept: Follow;

	beforeEach(() => {
		vi.useFakeTimers();
		lineTop = 300;
	});

	afterEach(() => vi.useRealTimers());

	/** A reader at 50 pixels above the line. */
	function read(anchored: boolean): void {
		vi.stubGlobal("CSS", { supports: () => anchored });
		const line = document.createElement("div");
		line.getBoundingClientRect = () => ({ top: lineTop - area.scrollTop }) as DOMRect;
		document.body.replaceChildren(line);
		kept = new Follow(
			area,
			document.createElement("div"),
			() => line,
			() => {},
			new AbortController().signal,
		);
		kept.keep(() => {});
		scrollTo(250);
	}

	function drop(count: number): void {
		kept.keep(() => {
			rows -= count;
			lineTop -= count * ROW;
		});
	}

	const frames = () => vi.advanceTimersByTime(100);
	const below = () => lineTop - area.scrollTop;

	it("stays where it is in a browser that keeps none itself", () => {
		read(false);
		drop(10);
		expect(below()).toBe(50);
		drop(5);
		expect(below()).toBe(50);
	});

	it("is left to a browser that keeps it", () => {
		read(true);
		drop(10);
		expect(below()).toBe(50);
		drop(5);
		area.scrollTop -= 5 * ROW;
		frames();
		expect(below()).toBe(50);
	});

	it("is put back when the browser did not keep it", () => {
		read(true);
		drop(10);
		drop(5);
		drop(2);
		frames();
		expect(below()).toBe(50);
	});

	it("is left where the reader scrolled to meanwhile", () => {
		read(true);
		drop(10);
		drop(5);
		scrollTo(70);
		frames();
		expect(area.scrollTop).toBe(70);
	});

	it("is of no interest to one who had older lines shown meanwhile, as far down as those before", () => {
		read(true);
		drop(10);
		drop(5);
		const { scrollTop } = area;
		const older = document.createElement("div");
		older.getBoundingClientRect = () => ({ bottom: scrollTop + 0.85 * HEIGHT - area.scrollTop }) as DOMRect;
		rows += 20;
		lineTop += 20 * ROW;
		kept.reveal(older);
		frames();
		expect(area.scrollTop).toBe(scrollTop);
	});

	it("is of no interest to one who went to the end meanwhile", () => {
		read(true);
		drop(10);
		drop(5);
		kept.toEnd();
		frames();
		expect(atEnd()).toBe(true);
	});
});
