import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Panels } from "./panels";
import { Results } from "./results";

const TOKEN = "0123456789abcdef";
const RESULT = `boundcap-result boundcap-run-${TOKEN}`;

/** Tells of an element when the test says so. */
class FakeObserver {
	static readonly all: FakeObserver[] = [];
	readonly targets = new Set<Element>();
	readonly #tell: (entries: unknown[]) => void;

	constructor(tell: (entries: unknown[]) => void) {
		this.#tell = tell;
		FakeObserver.all.push(this);
	}

	observe(target: Element): void {
		this.targets.add(target);
	}

	unobserve(target: Element): void {
		this.targets.delete(target);
	}

	disconnect(): void {
		this.targets.clear();
	}

	tell(target: Element, isIntersecting = true): void {
		if (this.targets.has(target)) {
			this.#tell([{ target, isIntersecting }]);
		}
	}
}

let life: AbortController;
let cells: unknown[];
let made: { el: HTMLElement; signal: AbortSignal }[];
let outputs: HTMLElement;

const make = (el: HTMLElement, signal: AbortSignal): HTMLElement => {
	const panel = document.createElement("section");
	made.push({ el, signal });
	el.append(panel);
	signal.addEventListener("abort", () => panel.remove());
	return panel;
};

const panelsOf = (token: unknown, panel = make): Panels =>
	new Panels(new Results({ context: { model: { cells } } }, token), panel, life.signal);

const view = (): HTMLElement => {
	const el = document.createElement("div");
	outputs.append(el);
	return el;
};

const result = (className = RESULT): HTMLElement => {
	const output = document.createElement("div");
	output.innerHTML = `<div class="${className}">static</div>`;
	outputs.append(output);
	return output.firstElementChild as HTMLElement;
};

/** The element appears, as the browser tells of it, and is in sight. */
const appears = (root: Element, name = "boundcap-appears"): void => {
	const event = new Event("animationstart", { bubbles: true });
	root.dispatchEvent(Object.assign(event, { animationName: name }));
	comesNear(root);
};

const comesNear = (root: Element): void => {
	for (const observer of FakeObserver.all) {
		observer.tell(root);
	}
};

const changed = (): Promise<void> => new Promise((done) => queueMicrotask(done));
const inPage = (): number => document.querySelectorAll("section").length;

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	FakeObserver.all.length = 0;
	vi.stubGlobal("ResizeObserver", FakeObserver);
	vi.stubGlobal("IntersectionObserver", FakeObserver);
	life = new AbortController();
	cells = [];
	made = [];
	document.body.innerHTML = '<div class="jp-OutputArea"></div>';
	outputs = document.body.firstElementChild as HTMLElement;
});

afterEach(() => {
	life.abort();
	vi.useRealTimers();
	vi.unstubAllGlobals();
	vi.restoreAllMocks();
});

describe("the panel of a run that is over", () => {
	it("moves to the result that takes the place of its view, and is the same", async () => {
		const panels = panelsOf(TOKEN);
		const el = view();
		const gone = new AbortController();
		panels.mount(el, gone.signal);
		const panel = el.firstElementChild;
		panels.over();
		el.remove();
		const root = result();
		await changed();
		gone.abort();
		expect(root.nextElementSibling?.firstElementChild).toBe(panel);
		expect(made).toHaveLength(1);
		expect(made[0]?.signal.aborted).toBe(false);
		// HTML that is rendered, and a page that is told of it, add no second one.
		appears(root);
		await changed();
		expect(inPage()).toBe(1);
	});

	it("waits for a result that comes after its view has gone, but not for ever", async () => {
		const panels = panelsOf(TOKEN);
		const [first, second] = [view(), view()];
		const gone = [new AbortController(), new AbortController()];
		panels.mount(first, gone[0]?.signal as AbortSignal);
		panels.mount(second, gone[1]?.signal as AbortSignal);
		panels.over();
		first.remove();
		second.remove();
		gone.forEach((view) => {
			view.abort();
		});
		vi.advanceTimersByTime(500);
		result();
		await changed();
		vi.advanceTimersByTime(10_000);
		expect(made.map(({ signal }) => signal.aborted)).toEqual([false, true]);
		expect(inPage()).toBe(1);
	});

	it("is made for a result that was there, or appears, when that is near", async () => {
		const before = result();
		const panels = panelsOf(TOKEN);
		panels.over();
		expect(inPage()).toBe(0);
		comesNear(before);
		const after = result();
		appears(after);
		expect(made.map(({ el }) => el.previousElementSibling)).toEqual([before, after]);
	});

	it("is not looked for while the run goes on", () => {
		const panels = panelsOf(TOKEN);
		const el = view();
		const gone = new AbortController();
		panels.mount(el, gone.signal);
		appears(result());
		expect(inPage()).toBe(1);
		gone.abort();
		expect(inPage()).toBe(0);
	});

	it("goes with the model, and the result is seen again", () => {
		const panels = panelsOf(TOKEN);
		const root = result();
		panels.over();
		comesNear(root);
		expect(root.nextElementSibling?.className).toContain("boundcap-host");
		life.abort();
		expect(root.nextElementSibling).toBeNull();
		expect(inPage()).toBe(0);
		appears(root);
		expect(inPage()).toBe(0);
	});

	it("leaves the result as it is where it can not be made, and tries once", () => {
		const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
		const root = result();
		const panels = panelsOf(TOKEN, () => {
			throw new Error("no panel");
		});
		panels.over();
		comesNear(root);
		appears(root);
		expect(root.nextElementSibling).toBeNull();
		expect(warn).toHaveBeenCalledTimes(1);
	});

	it("ends when its output is gone, but not when the notebook has it still", () => {
		const html = `<div class='${RESULT}' style='x'>`;
		const output = { data: { "text/html": html } };
		const list = { length: 1, get: () => output, set: () => {} };
		cells = [{ outputs: list }];
		const panels = panelsOf(TOKEN);
		const root = result();
		panels.over();
		comesNear(root);
		const host = root.nextElementSibling as Element;
		root.parentElement?.remove();
		const left = () => {
			for (const observer of FakeObserver.all) {
				observer.tell(host);
			}
		};
		left();
		expect(made[0]?.signal.aborted).toBe(false);
		list.length = 0;
		vi.advanceTimersByTime(30_000);
		expect(made[0]?.signal.aborted).toBe(true);
		expect(root.nextElementSibling).toBeNull();
	});

	it("waits for one output to come back, not for each that a moved cell had before", () => {
		const output = { data: { "text/html": `<div class='${RESULT}' style='x'>` } };
		cells = [{ outputs: { length: 1, get: () => output, set: () => {} } }];
		const panels = panelsOf(TOKEN);
		panels.over();
		for (let move = 0; move < 5; move += 1) {
			const root = result();
			appears(root);
			const host = root.nextElementSibling as Element;
			root.parentElement?.remove();
			for (const observer of FakeObserver.all) {
				observer.tell(host);
			}
		}
		expect(made.map(({ signal }) => signal.aborted)).toEqual([true, true, true, true, false]);
	});
});

describe("what only looks like a result of the run", () => {
	it.each([
		["another run's", "boundcap-result boundcap-run-fedcba9876543210"],
		["no token", "boundcap-result"],
		["a part of the token", "boundcap-result boundcap-run-0123"],
		["more than the token", `${RESULT}0`],
		["a token alone", `boundcap-run-${TOKEN}`],
	])("%s shows no panel", (_, className) => {
		const panels = panelsOf(TOKEN);
		const root = result(className);
		panels.over();
		appears(root);
		expect(inPage()).toBe(0);
	});

	it("is told by another animation", () => {
		const panels = panelsOf(TOKEN);
		panels.over();
		appears(result(), "boundcap-breathe");
		expect(inPage()).toBe(0);
	});

	it.each([undefined, "", 5, null, "0123", "x y", "[0-9a-f]", "0123456789abcdef zzz"])(
		"is everything where the model says %j for a token",
		(token) => {
			const root = result(`boundcap-result boundcap-run-${token}`);
			const panels = panelsOf(token);
			panels.over();
			appears(root);
			expect(inPage()).toBe(0);
			expect(new Results(null, token).inNotebook).toBe(0);
		},
	);
});
