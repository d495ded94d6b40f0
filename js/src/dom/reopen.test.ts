import { beforeEach, describe, expect, it, vi } from "vitest";
import type { PanelModel } from "./model";
import { reopen, reopenTold, SAID_AGAIN_AFTER } from "./reopen";

/** As JupyterLab's manager, to the extent that matters: a model is known from the moment when it is registered. */
class FakeManager {
	readonly models = new Map<string, Promise<unknown>>();
	readonly comms = new Set<string>();
	readonly made: { id: string; state: object; knew: string[] }[] = [];
	readonly restored = { emit: vi.fn() };
	readonly kernel = { hasComm: (id: string) => this.comms.has(id) };

	has_model(id: string): boolean {
		return this.models.has(id);
	}

	register_model(id: string, model: Promise<unknown>): void {
		this.models.set(id, model);
	}

	async _create_comm(target: string, id: string): Promise<unknown> {
		expect(target).toBe("jupyter.widget");
		if (this.comms.has(id)) {
			throw new Error("Comm is already created");
		}
		this.comms.add(id);
		return { comm_id: id };
	}

	async new_model(options: { model_id: string; comm: unknown }, state: object): Promise<unknown> {
		expect(options.comm).toEqual({ comm_id: options.model_id });
		this.made.push({ id: options.model_id, state, knew: [...this.models.keys()] });
		return {};
	}
}

const state = (text: string) => ({ _model_name: "AnyModel", _model_module: "anywidget", text });

let manager: FakeManager;

beforeEach(() => {
	manager = new FakeManager();
	vi.useFakeTimers();
	return () => vi.useRealTimers();
});

describe("a page", () => {
	it("that lacks widgets gets them, each made when all are known", async () => {
		await reopen(manager, { box: state("box"), panel: state("panel") });
		expect(manager.made.map(({ id, state }) => [id, state])).toEqual([
			["box", state("box")],
			["panel", state("panel")],
		]);
		for (const { knew } of manager.made) {
			expect(knew).toEqual(["box", "panel"]);
		}
	});

	it("looks for them again, also where it gave up in just that moment", async () => {
		await reopen(manager, { panel: state("panel") });
		expect(manager.restored.emit).toHaveBeenCalledTimes(1);
		vi.advanceTimersByTime(SAID_AGAIN_AFTER);
		expect(manager.restored.emit).toHaveBeenCalledTimes(2);
	});

	it("that has them is left alone", async () => {
		manager.models.set("panel", Promise.resolve({}));
		await reopen(manager, { panel: state("panel") });
		expect(manager.made).toEqual([]);
		expect(manager.restored.emit).not.toHaveBeenCalled();
	});

	it("that is about to open them is left alone", async () => {
		manager.comms.add("panel");
		await reopen(manager, { panel: state("panel"), layout: state("layout") });
		expect(manager.made.map(({ id }) => id)).toEqual(["layout"]);
	});

	it("gets the others when one fails", async () => {
		const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
		const create = manager._create_comm.bind(manager);
		vi.spyOn(manager, "_create_comm").mockImplementation(async (target, id) => {
			if (id === "bad") {
				throw new Error("No current kernel");
			}
			return create(target, id);
		});
		await reopen(manager, { bad: state("bad"), good: state("good") });
		expect(manager.made.map(({ id }) => id)).toEqual(["good"]);
		expect(manager.restored.emit).toHaveBeenCalled();
		expect(warn).toHaveBeenCalledOnce();
	});

	it.each([undefined, null, {}, { has_model: () => false }])("lives with a manager that is %j", async (manager) => {
		await expect(reopen(manager, { panel: state("panel") })).resolves.toBeUndefined();
	});
});

describe("the model that tells", () => {
	const modelOf = (traits: Record<string, unknown>): PanelModel => ({
		get: (name) => traits[name],
		on() {},
		off() {},
		send() {},
		widget_manager: manager,
	});

	it("has the code of the panels once for all", async () => {
		const told = {
			_esm: "code",
			_css: "style",
			panels: { one: { text: "1" }, two: { text: "2" } },
			others: { box: {} },
		};
		expect(reopenTold(modelOf(told))).toBe(true);
		await vi.waitFor(() => expect(manager.made).toHaveLength(3));
		expect(Object.fromEntries(manager.made.map(({ id, state }) => [id, state]))).toEqual({
			box: {},
			one: { _esm: "code", _css: "style", text: "1" },
			two: { _esm: "code", _css: "style", text: "2" },
		});
	});

	it("is no panel, and a panel is not it", () => {
		expect(reopenTold(modelOf({ _esm: "code", snapshot: {} }))).toBe(false);
		expect(manager.made).toEqual([]);
	});
});
