import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { status, view } from "../core/examples";
import define from "../index";
import { LAST_AFTER } from "./lasting";

const VIEW = "application/vnd.jupyter.widget-view+json";
const TOKEN = "0123456789abcdef";
const BUNDLE = {
	"text/plain": "done",
	"text/html": `<div class='boundcap-result boundcap-run-${TOKEN}' style=''>done</div>`,
};

/** A cell with outputs as the model of JupyterLab's output area gives them. */
class FakeCell {
	readonly outputs;

	constructor(...data: Record<string, unknown>[]) {
		const items: { data: Record<string, unknown> }[] = data.map((bundle) => ({ data: bundle }));
		this.outputs = {
			get length() {
				return items.length;
			},
			get: (index: number) => items[index],
			set: (index: number, output: Record<string, unknown>) => {
				items[index] = output as { data: Record<string, unknown> };
			},
			items,
		};
	}
}

const panelOf = (model: string) => ({ [VIEW]: { version_major: 2, model_id: model }, "text/plain": "running" });

class FakeModel {
	readonly sent: { type: string; id: number }[] = [];
	snapshot: unknown = {
		seq: 1,
		output: view("x\n"),
		stderr: null,
		status: status({ state: "exited", exitCode: 0 }),
		quiet: 0,
	};
	widget_manager: unknown;
	#listener: (content: unknown, buffers: unknown) => void = () => {};

	placed = 0;

	get(name: string): unknown {
		return { snapshot: this.snapshot, token: TOKEN }[name];
	}

	on(event: string, listener: (...values: never[]) => void): void {
		if (event === "msg:custom") {
			this.#listener = listener as (content: unknown, buffers: unknown) => void;
		}
	}

	off(): void {}

	send(message: object): void {
		this.placed += "type" in message && message.type === "placed" ? 1 : 0;
		// Whether nothing was missed is another question, without an id.
		if ("id" in message) {
			this.sent.push(message as { type: string; id: number });
		}
	}

	receive(message: unknown): void {
		this.#listener(message, []);
	}
}

let model: FakeModel;
let end = () => {};

const open = (cells: unknown): void => {
	model.widget_manager = { context: { model: { cells } } };
	end = define().initialize({ model });
};

beforeEach(() => {
	vi.useFakeTimers();
	model = new FakeModel();
});

afterEach(() => {
	end();
	vi.useRealTimers();
	vi.restoreAllMocks();
});

describe("a page that still has the panel of a run that is over", () => {
	it("asks for the result and puts it in the place of this panel alone", () => {
		const stream = { "text/plain": "beside" };
		const cells = [{ id: "markdown" }, new FakeCell(stream, panelOf("mine")), new FakeCell(panelOf("other"))] as const;
		open(cells);
		vi.advanceTimersByTime(LAST_AFTER);
		expect(model.sent).toEqual([{ type: "result", id: expect.any(Number) }]);
		model.receive({ type: "result", id: model.sent[0]?.id, model: "mine", bundle: BUNDLE });
		expect(cells[1].outputs.items).toEqual([
			{ data: stream },
			{ output_type: "display_data", data: BUNDLE, metadata: {} },
		]);
		expect(cells[2].outputs.items).toEqual([{ data: panelOf("other") }]);
	});

	it("takes care of every cell that shows it", () => {
		const cells = [new FakeCell(panelOf("mine")), new FakeCell(panelOf("mine"))];
		open(cells);
		vi.advanceTimersByTime(LAST_AFTER);
		model.receive({ type: "result", id: model.sent[0]?.id, model: "mine", bundle: BUNDLE });
		expect(cells.map((cell) => cell.outputs.items[0]?.data)).toEqual([BUNDLE, BUNDLE]);
	});

	it("leaves a panel that nothing takes the place of", () => {
		const cell = new FakeCell(panelOf("mine"));
		open([cell]);
		vi.advanceTimersByTime(LAST_AFTER);
		model.receive({ type: "refused", id: model.sent[0]?.id, reason: "a program's own", retry: false });
		vi.advanceTimersByTime(100 * LAST_AFTER);
		expect(model.sent).toHaveLength(1);
		expect(cell.outputs.items[0]?.data).toEqual(panelOf("mine"));
	});

	it("waits for the end, and asks once", () => {
		model.snapshot = { seq: 1, output: view("x\n"), stderr: null, status: status(), quiet: 0 };
		open([new FakeCell(panelOf("mine"))]);
		vi.advanceTimersByTime(10 * LAST_AFTER);
		expect(model.sent).toEqual([]);
		const ended = { type: "status", status: status({ state: "stopped" }) };
		model.receive(ended);
		model.receive(ended);
		vi.advanceTimersByTime(LAST_AFTER - 1);
		expect(model.sent).toEqual([]);
		vi.advanceTimersByTime(1);
		model.receive(ended);
		vi.advanceTimersByTime(LAST_AFTER);
		expect(model.sent).toHaveLength(1);
	});

	it("has nothing to ask for where the kernel has replaced it, or when the widget is gone", () => {
		open([new FakeCell({ "text/html": "done" })]);
		vi.advanceTimersByTime(LAST_AFTER);
		open([new FakeCell(panelOf("mine"))]);
		end();
		vi.advanceTimersByTime(LAST_AFTER);
		expect(model.sent).toEqual([]);
	});

	it("says that the notebook has the result, when it has it", () => {
		open([new FakeCell(panelOf("mine"))]);
		vi.advanceTimersByTime(LAST_AFTER);
		expect(model.placed).toBe(0);
		model.receive({ type: "result", id: model.sent[0]?.id, model: "mine", bundle: BUNDLE });
		expect(model.placed).toBe(1);
	});

	it.each([
		["the kernel put it there", BUNDLE, 1],
		["a file has its HTML by lines", { "text/html": [BUNDLE["text/html"], "more"] }, 1],
		["it is another run's", { "text/html": BUNDLE["text/html"].replace(TOKEN, "fedcba9876543210") }, 0],
		["the notebook has none", { "text/plain": TOKEN }, 0],
		["the token is in the text", { "text/html": `<pre>${"x".repeat(200)} boundcap-run-${TOKEN}</pre>` }, 0],
	])("says so or not: %s", (_, data, placed) => {
		open([new FakeCell(data)]);
		vi.advanceTimersByTime(LAST_AFTER);
		expect(model.placed).toBe(placed);
		expect(model.sent).toEqual([]);
	});

	it.each([
		["no manager", undefined],
		["a narrow manager", {}],
		["no notebook", { context: { model: {} } }],
		["cells that are no list", { context: { model: { cells: 5 } } }],
		["cells without outputs", { context: { model: { cells: [{}, { outputs: {} }, { outputs: { length: 1 } }] } } }],
		["no context", { context: null }],
	])("lives with a host that has %s", (_, manager) => {
		const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
		model.widget_manager = manager;
		end = define().initialize({ model });
		vi.advanceTimersByTime(LAST_AFTER);
		expect(model.sent).toEqual([]);
		expect(warn).not.toHaveBeenCalled();
	});
});
