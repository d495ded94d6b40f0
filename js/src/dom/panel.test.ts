import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { metadata, status, view } from "../core/examples";
import define from "../index";
import { ACKNOWLEDGE_WITHIN } from "./stop";

class FakeModel {
	readonly sent: unknown[] = [];
	readonly interrupt = vi.fn(() => Promise.resolve());
	readonly listeners = new Map<string, Set<(...values: never[]) => void>>();
	traits: Record<string, unknown> = {
		snapshot: { seq: 0, output: null, stderr: null, status: status(), quiet: 0 },
		foreground: true,
		command: "make -j8\nmake test",
	};
	widget_manager: unknown = { kernel: { interrupt: this.interrupt } };

	get(name: string): unknown {
		return this.traits[name];
	}

	on(event: string, listener: (...values: never[]) => void): void {
		this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
	}

	off(event: string, listener: (...values: never[]) => void): void {
		this.listeners.get(event)?.delete(listener);
	}

	send(message: unknown): void {
		this.sent.push(message);
	}

	receive(message: unknown): void {
		this.trigger("msg:custom", message);
	}

	trigger(event: string, content?: unknown): void {
		for (const listener of this.listeners.get(event) ?? []) {
			(listener as (content: unknown) => void)(content);
		}
	}
}

/** A kernel connection of JupyterLab, as far as the panel looks at it. */
class FakeKernel {
	status = "busy";
	connectionStatus = "connected";
	isDisposed = false;
	readonly slots = new Set<() => void>();
	readonly statusChanged = { connect: (slot: () => void) => this.slots.add(slot), disconnect: this.forget };
	readonly connectionStatusChanged = this.statusChanged;

	get forget() {
		return (slot: () => void) => this.slots.delete(slot);
	}

	becomes(changes: Partial<Pick<FakeKernel, "status" | "connectionStatus" | "isDisposed">>): void {
		Object.assign(this, changes);
		for (const slot of this.slots) {
			slot();
		}
	}
}

let model: FakeModel;
let widget: ReturnType<typeof define>;
let endRun: () => void;

beforeEach(() => {
	vi.useFakeTimers();
	model = new FakeModel();
	widget = define();
	endRun = widget.initialize({ model });
});

afterEach(() => {
	document.body.replaceChildren();
	vi.useRealTimers();
	vi.restoreAllMocks();
});

function show(): { el: HTMLElement; find: (name: string) => HTMLElement; end: () => void } {
	const el = document.createElement("div");
	document.body.append(el);
	const end = widget.render({ el });
	return { el, end, find: (name) => el.querySelector(`.boundcap-${name}`) as HTMLElement };
}

function frame(): void {
	vi.advanceTimersByTime(300);
}

const replace = (seq: number, text: string, facts = metadata(), stream = "output") => ({
	type: "update",
	seq,
	stream,
	update: { kind: "replace", output: view(text, facts) },
});
const append = (seq: number, text: string) => ({
	type: "update",
	seq,
	stream: "output",
	update: { kind: "append", text, metadata: metadata({}, { totalBytes: 1234567, totalLines: 2 }) },
});
const ended = (changes: object) => ({ type: "status", status: status(changes) });

describe("a panel", () => {
	it("shows state, figures and text, and follows the updates", () => {
		const { find, el } = show();
		expect(find("state").textContent).toBe("running");
		model.receive(replace(1, "a\n"));
		model.receive(append(2, "b\n"));
		frame();
		expect(find("text").textContent).toBe("a\nb\n");
		expect(find("bytes").textContent).toBe("1,234,567 B");
		expect(find("lines").textContent).toBe("2 lines");
		expect(el.querySelector<HTMLElement>(".boundcap-panel")?.dataset.state).toBe("running");
	});

	it("shows what came before it was there", () => {
		model.receive(replace(1, "a\n"));
		model.receive(append(2, "b\n"));
		expect(show().find("text").textContent).toBe("a\nb\n");
	});

	it("shows the same as the others of its run, each as long as it lives", () => {
		const [one, other] = [show(), show()];
		model.receive(replace(1, "a\n"));
		frame();
		one.end();
		model.receive(append(2, "b\n"));
		frame();
		expect(one.el.children).toHaveLength(0);
		expect(other.find("text").textContent).toBe("a\nb\n");
	});

	it("draws once for all that comes at once", () => {
		const { find } = show();
		frame();
		for (let seq = 1; seq <= 50; seq += 1) {
			model.receive(replace(seq, "a\n", metadata({}, { totalBytes: seq })));
			expect(find("bytes").textContent).toBe("0 B");
		}
		frame();
		expect(find("bytes").textContent).toBe("50 B");
	});

	it("draws a line at once, and text that nobody can read less often, but for the first and the last of it", () => {
		const { find } = show();
		const many = (seq: number) => replace(seq, `${seq}\n`.repeat(8));
		vi.advanceTimersByTime(1000);
		model.receive(many(1));
		vi.advanceTimersByTime(1);
		expect(find("text").textContent).toMatch(/^1/);
		model.receive(many(2));
		vi.advanceTimersByTime(100);
		model.receive(many(3));
		vi.advanceTimersByTime(98);
		expect(find("text").textContent).toMatch(/^1/);
		vi.advanceTimersByTime(1);
		expect(find("text").textContent).toMatch(/^3/);
		model.receive(many(4));
		model.receive(append(5, "a line\n"));
		vi.advanceTimersByTime(32);
		expect(find("text").textContent).toBe(`${"4\n".repeat(8)}a line\n`);
		model.receive(many(6));
		model.receive(ended({ state: "exited", exitCode: 0 }));
		vi.advanceTimersByTime(32);
		expect(find("text").textContent).toMatch(/^6/);
	});

	it("ticks while it runs", () => {
		const { find } = show();
		vi.advanceTimersByTime(3050);
		expect(find("elapsed").textContent).toBe("3.0 s");
		vi.advanceTimersByTime(20_000);
		expect(find("elapsed").textContent).toBe("23 s");
		model.receive(ended({ state: "exited", exitCode: 0, duration: 24.5 }));
		vi.advanceTimersByTime(60_000);
		expect(find("elapsed").textContent).toBe("24 s");
	});

	it("says how the run ended, and offers no Stop any more", () => {
		const { find, el } = show();
		model.receive(ended({ state: "exited", exitCode: 3, duration: 1 }));
		frame();
		expect(find("state").textContent).toBe("failed · exit 3");
		expect(find("stop").hidden).toBe(true);
		expect(el.querySelector<HTMLElement>(".boundcap-panel")?.dataset.state).toBe("exited");
	});

	it("says what is shown, and where the rest is, as it came", () => {
		const { find } = show();
		expect(find("footer").hidden).toBe(true);
		const path = "~/.cache/boundcap/<b>/output.log";
		const cut = { truncated: true, totalLines: 9000, outputLines: 2000 };
		model.receive(replace(1, "a\n", metadata({ spillPath: path, spillState: "complete" }, cut)));
		frame();
		expect(find("footer").hidden).toBe(false);
		expect(find("shown").textContent).toBe("last 2,000 of 9,000 lines");
		expect(find("spill").textContent).toBe(path);
	});

	it("shows both ends with what is missing between them", () => {
		model.traits.retain = "both";
		const { find } = show();
		const output = view("z\n", metadata({ omittedBytes: 10, omittedLines: 5 }, { truncated: true }), "a\n");
		model.receive({ ...replace(1, ""), update: { kind: "replace", output } });
		frame();
		expect(find("text").textContent).toBe("a\n… 5 lines, 10 B not shown …z\n");
	});

	it("says in one line why a run failed", () => {
		const { find } = show();
		model.receive(ended({ state: "spill_error", detail: "No space left on device" }));
		frame();
		expect(find("detail").textContent).toBe("No space left on device");
	});

	it.each([
		[1, "1 process still holds the output"],
		[2, "2 processes still hold the output"],
		[0, ""],
	])("says that %i others could still print when it was over", (pipeHeld, words) => {
		const { find } = show();
		expect(find("held").hidden).toBe(true);
		model.receive(ended({ state: "exited", exitCode: 0, pipeHeld }));
		frame();
		expect(find("held").textContent).toBe(words);
		expect(find("held").hidden).toBe(words === "");
	});

	it("keeps what it has when a message is malformed, and tells the developer", () => {
		const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
		const { find } = show();
		model.receive(replace(1, "a\n"));
		model.receive({ ...append(2, ""), update: { kind: "append", text: 7 } });
		frame();
		expect(find("text").textContent).toBe("a\n");
		expect(warn).toHaveBeenCalledOnce();
	});

	it("is named and reachable for those who do not see it, and silent while it runs", () => {
		const { find, el } = show();
		expect(el.querySelector('[role="group"]')?.getAttribute("aria-label")).toBe("bounded run of make -j8");
		expect(find("text").getAttribute("aria-label")).toBe("output of make -j8");
		expect(find("text").getAttribute("aria-live")).toBe("off");
		expect(find("text").tabIndex).toBe(0);
		const announced = [...el.querySelectorAll('[role="status"]')].map((node) => node.className);
		expect(announced).toEqual(["boundcap-state", "boundcap-note"]);
	});

	it("keeps the notebook's shortcuts off the keys that scroll it, and off no others", () => {
		const { find } = show();
		const press = (key: string, more = {}) => {
			find("text").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
			return find("text").hasAttribute("data-lm-suppress-shortcuts");
		};
		expect(press("ArrowUp")).toBe(true);
		expect(press("s", { ctrlKey: true })).toBe(false);
		const pressed = (key: string) => {
			find("stop").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
			return find("stop").hasAttribute("data-lm-suppress-shortcuts");
		};
		expect(pressed("Enter")).toBe(true);
		expect(pressed("ArrowUp")).toBe(false);
	});

	it("leaves no timer, frame or listener behind", () => {
		const ofTheRun = vi.getTimerCount();
		const { end } = show();
		model.receive(replace(1, "a\n"));
		end();
		expect(vi.getTimerCount()).toBe(ofTheRun);
		endRun();
		expect(vi.getTimerCount()).toBe(0);
		expect([...model.listeners.values()].every((listeners) => listeners.size === 0)).toBe(true);
	});
});

describe("the tools", () => {
	const tool = (el: HTMLElement, label: string) =>
		[...el.querySelectorAll<HTMLElement>("button")].find((button) => button.title === label && !button.hidden);

	beforeEach(() => localStorage.clear());

	it("come with the first text", () => {
		const { find } = show();
		expect(find("tools").hidden).toBe(true);
		model.receive(replace(1, "a\n", metadata({}, { totalBytes: 2 })));
		frame();
		expect(find("tools").hidden).toBe(false);
	});

	it("turn wrapping off and on, which later panels remember", () => {
		const { el, find } = show();
		const unwrapped = () => find("panel").classList.contains("boundcap-unwrapped");
		expect(unwrapped()).toBe(false);
		expect(tool(el, "wrap long lines")?.getAttribute("aria-pressed")).toBe("true");
		tool(el, "wrap long lines")?.click();
		expect(unwrapped()).toBe(true);
		expect(show().find("panel").classList.contains("boundcap-unwrapped")).toBe(true);
		tool(el, "wrap long lines")?.click();
		expect(unwrapped()).toBe(false);
		expect(show().find("panel").classList.contains("boundcap-unwrapped")).toBe(false);
	});

	it("make the text higher, and as it was", () => {
		const { el, find } = show();
		tool(el, "show more rows")?.click();
		expect(find("panel").classList.contains("boundcap-tall")).toBe(true);
		tool(el, "show fewer rows")?.click();
		expect(find("panel").classList.contains("boundcap-tall")).toBe(false);
	});

	it("copy the text without its colours, and say so for a moment", async () => {
		const writeText = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
		const { el } = show();
		model.receive(replace(1, "\u001b[31ma\u001b[0m\n"));
		frame();
		tool(el, "copy the text shown")?.click();
		await vi.advanceTimersByTimeAsync(10);
		expect(writeText).toHaveBeenCalledWith("a\n");
		expect(tool(el, "copied")).toBeDefined();
		vi.advanceTimersByTime(2000);
		expect(tool(el, "copied")).toBeUndefined();
	});

	it("copy each of two texts on its own", async () => {
		const writeText = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
		const { el } = show();
		model.receive(replace(1, "out\n"));
		model.receive(replace(2, "err\n", metadata({}, { totalBytes: 4 }), "stderr"));
		frame();
		const buttons = [...el.querySelectorAll<HTMLElement>("button[title='copy the text shown']")];
		const seen = buttons.filter((button) => !button.hidden);
		for (const button of seen) {
			button.click();
		}
		expect(writeText.mock.calls).toEqual([["out\n"], ["err\n"]]);
	});
});

describe("the pace", () => {
	const grow = (seq: number, totalBytes: number) => replace(seq, "a\n", metadata({}, { totalBytes }));

	it("is a rate while output comes, and a silence when none came for a while", () => {
		const { find } = show();
		for (let seq = 1; seq <= 30; seq += 1) {
			vi.advanceTimersByTime(100);
			model.receive(grow(seq, seq * 200));
		}
		vi.advanceTimersByTime(100);
		expect(find("pace").textContent).toMatch(/^(1\.[89]|2\.[01]) kB\/s$/);
		vi.advanceTimersByTime(6000);
		expect(find("pace").textContent).toMatch(/^quiet for [56] s$/);
	});

	it("is a silence, too, when nothing ever came", () => {
		const { find } = show();
		vi.advanceTimersByTime(12_050);
		expect(find("pace").textContent).toBe("quiet for 12 s");
	});

	it("is gone at the end", () => {
		const { find } = show();
		vi.advanceTimersByTime(12_000);
		model.receive(ended({ state: "exited", exitCode: 0 }));
		frame();
		expect(find("pace").textContent).toBe("");
	});
});

describe("a kernel", () => {
	let kernel: FakeKernel;

	beforeEach(() => {
		endRun();
		kernel = new FakeKernel();
		model.widget_manager = { kernel };
		widget = define();
		endRun = widget.initialize({ model });
	});

	const gone: [name: string, happens: () => void][] = [
		["restarts", () => kernel.becomes({ status: "restarting" })],
		["is restarted because it died", () => kernel.becomes({ status: "autorestarting" })],
		["dies", () => kernel.becomes({ status: "dead" })],
		["is given up", () => kernel.becomes({ isDisposed: true })],
		["closes the widget", () => model.trigger("comm:close")],
	];
	for (const [name, happens] of gone) {
		it(`that ${name} is gone: the panel says so, ticks no more and offers no Stop`, () => {
			const { find } = show();
			model.receive(replace(1, "a\n"));
			vi.advanceTimersByTime(3050);
			happens();
			kernel.becomes({ status: "idle" });
			vi.advanceTimersByTime(60_000);
			expect(find("state").textContent).toBe("kernel is gone");
			expect(find("detail").textContent).toBe("this is what was last seen");
			expect(find("elapsed").textContent).toBe("3.0 s");
			expect(find("pace").textContent).toBe("");
			expect(find("stop").hidden).toBe(true);
			expect(find("text").textContent).toBe("a\n");
			expect(model.sent).toEqual([]);
		});
	}

	it("that can not be reached for a while is asked what is new when it can", () => {
		const { find } = show();
		model.receive(replace(1, "a\n"));
		kernel.becomes({ connectionStatus: "connecting" });
		frame();
		expect(find("state").textContent).toBe("no connection");
		vi.advanceTimersByTime(60_000);
		expect(model.sent).toEqual([]);
		kernel.becomes({ connectionStatus: "connected" });
		frame();
		expect(find("state").textContent).toBe("running");
		expect(model.sent).toEqual([{ type: "check", seq: 1, running: true }]);
	});

	it("that goes after the end of the run is no news", () => {
		const { find } = show();
		model.receive(ended({ state: "exited", exitCode: 0 }));
		kernel.becomes({ status: "dead" });
		frame();
		expect(find("state").textContent).toBe("done");
		expect(find("detail").hidden).toBe(true);
	});

	it("is heard no more when the widget is gone", () => {
		endRun();
		expect(kernel.slots.size).toBe(0);
	});
});

describe("what was lost on the way", () => {
	it("is asked for when a gap stays, and shown when it comes", () => {
		const { find } = show();
		model.receive(replace(1, "a\n"));
		model.receive(append(3, "c\n"));
		vi.advanceTimersByTime(1100);
		expect(model.sent).toEqual([{ type: "check", seq: 3, running: true }]);
		const whole = { seq: 3, output: view("a\nb\nc\n"), stderr: null, status: status(), quiet: 0 };
		model.receive({ type: "snapshot", snapshot: whole });
		frame();
		expect(find("text").textContent).toBe("a\nb\nc\n");
	});

	it("is the end itself: a run that is silent is asked for, less and less often", () => {
		const { find } = show();
		vi.advanceTimersByTime(16_000);
		expect(model.sent).toEqual([{ type: "check", seq: 0, running: true }]);
		model.receive({ type: "current" });
		vi.advanceTimersByTime(29_000);
		expect(model.sent).toHaveLength(1);
		vi.advanceTimersByTime(2000);
		expect(model.sent).toHaveLength(2);
		const over = {
			seq: 1,
			output: view("a\n"),
			stderr: null,
			status: status({ state: "exited", exitCode: 3 }),
			quiet: 0,
		};
		model.receive({ type: "snapshot", snapshot: over });
		frame();
		expect(find("state").textContent).toBe("failed · exit 3");
	});

	it("is the last update: the end of the run is followed by one question, and by no more once it is answered", () => {
		model.receive(replace(1, "a\n"));
		model.receive(ended({ state: "exited", exitCode: 0 }));
		vi.advanceTimersByTime(10);
		expect(model.sent).toEqual([{ type: "check", seq: 1, running: false }]);
		model.receive({ type: "current" });
		vi.advanceTimersByTime(3_600_000);
		expect(model.sent).toHaveLength(1);
		expect(vi.getTimerCount()).toBe(0);
	});

	it("is not asked for again while a busy kernel is silent", () => {
		vi.advanceTimersByTime(290_000);
		expect(model.sent).toHaveLength(1);
	});
});

describe("a standard error that is kept apart", () => {
	const bytes = (totalBytes: number, totalLines: number, facts = {}, cut = {}) =>
		metadata(facts, { totalBytes, totalLines, ...cut });
	const all = (el: HTMLElement, name: string) =>
		[...el.querySelectorAll<HTMLElement>(`.boundcap-${name}`)].filter((node) => !node.hidden);
	const texts = (el: HTMLElement, name: string) => all(el, name).map((node) => node.textContent);

	it("has a text of its own below the output, with its own totals, from its first byte on", () => {
		const { el, find } = show();
		model.receive(replace(1, "out\n", bytes(4, 1)));
		frame();
		expect(texts(el, "text")).toEqual(["out\n"]);
		expect(texts(el, "heading")).toEqual([]);
		expect(find("bytes").hidden).toBe(false);
		model.receive(replace(2, "err\n", bytes(4, 1), "stderr"));
		model.receive({ ...append(3, "more\n"), stream: "stderr" });
		model.receive(append(4, "end\n"));
		frame();
		expect(texts(el, "text")).toEqual(["out\nend\n", "err\nmore\n"]);
		expect(texts(el, "heading")).toEqual(["stdout1,234,567 B2 lines", "stderr1,234,567 B2 lines"]);
		expect(find("bytes").hidden).toBe(true);
		expect(find("silent").hidden).toBe(true);
		const labels = all(el, "text").map((node) => node.getAttribute("aria-label"));
		expect(labels).toEqual(["output of make -j8", "standard error of make -j8"]);
	});

	it("is there at once in a panel that comes late, and follows the updates", () => {
		model.receive(replace(1, "out\n", bytes(4, 1)));
		model.receive(replace(2, "err\n", bytes(4, 1), "stderr"));
		const { el } = show();
		expect(texts(el, "text")).toEqual(["out\n", "err\n"]);
		model.receive({ ...append(3, "more\n"), stream: "stderr" });
		frame();
		expect(texts(el, "text")).toEqual(["out\n", "err\nmore\n"]);
	});

	it("says of each stream what is shown and where the rest is", () => {
		const { el } = show();
		const cut = { truncated: true, outputLines: 2000 };
		const spill = (name: string) => ({ spillPath: `/x/${name}.log`, spillState: "complete" as const });
		model.receive(replace(1, "out\n", bytes(9999, 9000, spill("output"), cut)));
		model.receive(replace(2, "err\n", bytes(8888, 8000, spill("stderr"), cut), "stderr"));
		frame();
		expect(texts(el, "footer")).toEqual([
			"last 2,000 of 9,000 linescomplete output: /x/output.logShow moreCopy pathDownloadCancel",
			"last 2,000 of 8,000 linescomplete output: /x/stderr.logShow moreCopy pathDownloadCancel",
		]);
	});

	it("stands alone where the command printed nothing else", () => {
		const { el } = show();
		model.receive(replace(1, "err\n", bytes(4, 1), "stderr"));
		frame();
		expect(texts(el, "text")).toEqual(["err\n"]);
		expect(texts(el, "heading")).toEqual(["stdoutnothing", "stderr4 B1 line"]);
	});

	it("has no text when it printed nothing, which is said in the end", () => {
		const { el, find } = show();
		model.receive(replace(1, "out\n", bytes(4, 1)));
		frame();
		expect(find("silent").hidden).toBe(true);
		model.receive(replace(2, "", bytes(0, 0), "stderr"));
		model.receive(ended({ state: "exited", exitCode: 0 }));
		frame();
		expect(texts(el, "text")).toEqual(["out\n"]);
		expect(find("silent").hidden).toBe(false);
		expect(find("silent").textContent).toBe("stderr: nothing");
	});

	it("is no failure: the state is told by the exit status", () => {
		const { find } = show();
		model.receive(replace(1, "error!\n", bytes(7, 1), "stderr"));
		model.receive(ended({ state: "exited", exitCode: 0 }));
		frame();
		expect(find("state").textContent).toBe("done");
		expect(find("header").dataset.outcome).toBe("good");
	});

	it("leaves no timer, frame or listener behind either", () => {
		const { end } = show();
		model.receive(replace(1, "err\n", bytes(4, 1), "stderr"));
		frame();
		end();
		endRun();
		expect(vi.getTimerCount()).toBe(0);
	});
});

describe("Stop", () => {
	it("asks the kernel, says so in every panel, and offers to insist", () => {
		const [one, other] = [show(), show()];
		one.find("stop").click();
		frame();
		expect(model.sent).toEqual([{ type: "stop" }]);
		for (const panel of [one, other]) {
			expect(panel.find("state").textContent).toBe("stopping…");
			expect(panel.find("stop").textContent).toBe("Kill");
			expect((panel.find("stop") as HTMLButtonElement).disabled).toBe(false);
		}
	});

	it("that came from elsewhere is shown, and can be insisted on", () => {
		const { find } = show();
		model.receive({ type: "stopping" });
		frame();
		expect(find("state").textContent).toBe("stopping…");
		expect(find("stop").textContent).toBe("Kill");
		find("stop").click();
		expect(model.sent).toEqual([{ type: "stop" }]);
	});

	it("insists once, from whichever panel", () => {
		const [one, other] = [show(), show()];
		one.find("stop").click();
		other.find("stop").click();
		other.find("stop").click();
		frame();
		expect(model.sent).toEqual([{ type: "stop" }, { type: "stop" }]);
		expect((one.find("stop") as HTMLButtonElement).disabled).toBe(true);
	});

	it("interrupts for each request that the kernel did not hear", () => {
		const { find } = show();
		find("stop").click();
		model.receive({ type: "stopping" });
		find("stop").click();
		vi.advanceTimersByTime(ACKNOWLEDGE_WITHIN);
		expect(model.interrupt).toHaveBeenCalledOnce();
	});

	it("interrupts a kernel that is silent while it waits on this run", () => {
		show().find("stop").click();
		vi.advanceTimersByTime(ACKNOWLEDGE_WITHIN - 1);
		expect(model.interrupt).not.toHaveBeenCalled();
		vi.advanceTimersByTime(1);
		expect(model.interrupt).toHaveBeenCalledOnce();
	});

	const harmless: [name: string, before: () => void][] = [
		["that has heard", () => model.receive({ type: "stopping" })],
		["whose run has ended", () => model.receive(ended({ state: "stopped" }))],
		["that waits on another run", () => Object.assign(model.traits, { foreground: false })],
		["whose widget is gone", () => endRun()],
	];
	for (const [name, before] of harmless) {
		it(`does not interrupt a kernel ${name}`, () => {
			show().find("stop").click();
			before();
			vi.advanceTimersByTime(10 * ACKNOWLEDGE_WITHIN);
			expect(model.interrupt).not.toHaveBeenCalled();
		});
	}

	it.each([undefined, null, {}, { kernel: null }, { kernel: {} }])("lives with a host that offers %j", (manager) => {
		model.widget_manager = manager;
		const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
		show().find("stop").click();
		vi.advanceTimersByTime(ACKNOWLEDGE_WITHIN);
		expect(warn).not.toHaveBeenCalled();
	});

	it.each([
		["which tells of no subshells", undefined],
		["that has no subshells, or has not told yet", false],
	])("takes the control channel of a kernel %s", (_, supportsSubshells) => {
		const sendControlMessage = vi.fn();
		model.traits.control_address = "abc";
		model.widget_manager = { kernel: { clientId: "page", username: "", supportsSubshells, sendControlMessage } };
		const { find } = show();
		find("stop").click();
		find("stop").click();
		expect(model.sent).toEqual([]);
		const messages = sendControlMessage.mock.calls.map(([message]) => message);
		for (const { channel, header, content } of messages) {
			expect([channel, header.msg_type, header.session]).toEqual(["control", "boundcap_request", "page"]);
			expect(content).toEqual({ address: "abc", message: { type: "stop" } });
		}
		expect(new Set(messages.map(({ header }) => header.msg_id)).size).toBe(2);
	});

	it("leaves the control channel alone where comms are heard", () => {
		const sendControlMessage = vi.fn();
		model.traits.control_address = "abc";
		model.widget_manager = { kernel: { supportsSubshells: true, sendControlMessage } };
		show().find("stop").click();
		expect(model.sent).toEqual([{ type: "stop" }]);
		expect(sendControlMessage).not.toHaveBeenCalled();
	});

	it("goes the other way where the host has no control channel", () => {
		model.traits.control_address = "abc";
		show().find("stop").click();
		expect(model.sent).toEqual([{ type: "stop" }]);
	});

	it("is still the model's when the panel that was pressed is gone", () => {
		const { find, end } = show();
		find("stop").click();
		end();
		vi.advanceTimersByTime(ACKNOWLEDGE_WITHIN);
		expect(model.interrupt).toHaveBeenCalledOnce();
	});
});
