/**
 * Hands widgets of the kernel to the widget manager of a page that lacks them, as the manager does itself when the kernel
 * tells it of them; a kernel that is busy does not (show/latecomers.py).
 *
 * The manager is that of JupyterLab and Notebook 7. What is not as it is expected there is left alone: then the page
 * waits for the kernel, as for any widget.
 */

import { type PanelModel, report } from "./model";

const TARGET = "jupyter.widget";

/**
 * Milliseconds. A view looks for its model for 2 s, and after that only when the manager says that it has restored some.
 * Models that come while it looks for the last time are missed, so that is said once more.
 */
export const SAID_AGAIN_AFTER = 2500;

/** A widget's state by the names of its traits. */
export type State = Readonly<Record<string, unknown>>;
/** By the ids of their models. */
export type States = Readonly<Record<string, State>>;

/** What is used of a manager (ManagerBase of @jupyter-widgets/base, WidgetManager of its JupyterLab extension). */
interface Manager {
	has_model(id: string): boolean;
	register_model(id: string, model: Promise<unknown>): void;
	new_model(options: object, state: State): Promise<unknown>;
	_create_comm(target: string, id: string): Promise<unknown>;
	readonly kernel?: { hasComm?(id: string): boolean } | null;
	readonly restored?: { emit?(value: undefined): void };
}

/** False if the model is that of a panel, and not the one that tells of panels. */
export function reopenTold(model: PanelModel): boolean {
	const [panels, others] = [model.get("panels"), model.get("others")] as [States | undefined, States | undefined];
	if (panels === undefined) {
		return false;
	}
	const code = { _esm: model.get("_esm"), _css: model.get("_css") };
	const whole = Object.entries(panels).map(([id, state]) => [id, { ...code, ...state }] as const);
	reopen(model.widget_manager, { ...others, ...Object.fromEntries(whole) }).catch(report);
	return true;
}

/** Costs nothing where the page has them all. */
export async function reopen(manager: unknown, states: States): Promise<void> {
	if (!isManager(manager)) {
		return;
	}
	// One with a comm and no model yet is about to be opened by the manager.
	const lacking = Object.entries(states).filter(([id]) => !manager.has_model(id) && !manager.kernel?.hasComm?.(id));
	if (lacking.length === 0) {
		return;
	}
	const models = lacking.map(([id, state]) => {
		const model = create(manager, id, state);
		// At once: a state refers to other models, and the manager may be about to open the same ones.
		manager.register_model(id, model);
		return model;
	});
	for (const { status, reason } of (await Promise.allSettled(models)) as PromiseRejectedResult[]) {
		if (status === "rejected") {
			report(reason);
		}
	}
	const say = () => manager.restored?.emit?.(undefined);
	say();
	window.setTimeout(say, SAID_AGAIN_AFTER);
}

async function create(manager: Manager, id: string, state: State): Promise<unknown> {
	const comm = await manager._create_comm(TARGET, id);
	const { _model_name: model_name, _model_module: model_module, _model_module_version: model_module_version } = state;
	return manager.new_model({ model_id: id, model_name, model_module, model_module_version, comm }, state);
}

function isManager(value: unknown): value is Manager {
	const manager = value as Partial<Manager> | null | undefined;
	const methods = [manager?.has_model, manager?.register_model, manager?.new_model, manager?._create_comm];
	return methods.every((method) => typeof method === "function");
}
