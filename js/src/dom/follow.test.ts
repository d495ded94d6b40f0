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

it("keeps a line where it is in a browser that does not do so itself", () => {
	vi.stubGlobal("CSS", { supports: () => false });
	const line = document.createElement("div");
	const frame = document.createElement("div");
	frame.append(line);
	let lineTop = 300;
	line.getBoundingClientRect = () => ({ top: lineTop - area.scrollTop }) as DOMRect;
	document.body.append(frame);
	const kept = new Follow(
		area,
		document.createElement("div"),
		() => line,
		() => {},
		new AbortController().signal,
	);
	kept.keep(() => {});
	scrollTo(250);
	kept.keep(() => {
		rows -= 20;
		lineTop -= 200;
	});
	expect(lineTop - area.scrollTop).toBe(50);
});
