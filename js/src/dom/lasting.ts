/**
 * Puts the static result where a page still has the panel of a run that is over.
 *
 * The kernel replaces the panel itself when the run ends, by the id of its display. A page that was closed or reloaded
 * since has forgotten that id: it shows the panel, and would save a notebook that refers to a widget which only this
 * kernel knows. So it looks for the panel among the outputs of its notebook, asks the kernel for the result, and puts it
 * there.
 *
 * The notebook is reached through the widget manager of JupyterLab and Notebook 7, by no documented way. What is not as
 * it is expected there is left alone: then the panel stays, as right as it was.
 */

import type { Asking } from "../core/asking";

const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json";

/**
 * Milliseconds after the end. The kernel's own replacement comes with the next message; a little later, nothing is left
 * to do.
 */
export const LAST_AFTER = 1000;

/** Characters of a result's HTML in which the classes of its root stand (show/static.py). */
const ROOT_LENGTH = 100;

/** What is used of a notebook's list of outputs (IOutputAreaModel of @jupyterlab/outputarea). */
interface Outputs {
	readonly length: number;
	get(index: number): { readonly data?: Record<string, unknown> } | undefined;
	set(index: number, output: Record<string, unknown>): void;
}

/** Calls `take` for each output of the notebook, with its data by mime type. */
function eachOutput(
	manager: unknown,
	take: (data: Readonly<Record<string, unknown>>, outputs: Outputs, index: number) => void,
): void {
	const cells = (manager as { context?: { model?: { cells?: unknown } } } | null | undefined)?.context?.model?.cells;
	if (typeof (cells as Iterable<unknown> | undefined)?.[Symbol.iterator] !== "function") {
		return;
	}
	for (const cell of cells as Iterable<{ outputs?: Partial<Outputs> }>) {
		const outputs = cell.outputs;
		if (typeof outputs?.length !== "number" || !outputs.get || !outputs.set) {
			continue;
		}
		for (let index = 0; index < outputs.length; index += 1) {
			take(outputs.get(index)?.data ?? {}, outputs as Outputs, index);
		}
	}
}

/** Calls `take` for each output that shows a widget, with the id of its model. */
function eachView(manager: unknown, take: (model: string, outputs: Outputs, index: number) => void): void {
	eachOutput(manager, (data, outputs, index) => {
		const view = data[WIDGET_VIEW] as { model_id?: unknown } | undefined;
		if (typeof view?.model_id === "string") {
			take(view.model_id, outputs, index);
		}
	});
}

/** How often the notebook has the static result of the run with this class. Looks at the beginning of each output. */
export function countResults(manager: unknown, runClass: string): number {
	let count = 0;
	eachOutput(manager, (data) => {
		const html = data["text/html"];
		const begin = String(Array.isArray(html) ? html[0] : (html ?? "")).slice(0, ROOT_LENGTH);
		count += begin.includes(runClass) ? 1 : 0;
	});
	return count;
}

/**
 * Replaces the panel of this run by its result wherever the notebook still has it. Costs a message if it has any. `done`
 * is called when that is done, or nothing is there to be replaced.
 */
export function makeLast(manager: unknown, asking: Asking, done: () => void): void {
	let views = 0;
	eachView(manager, () => {
		views += 1;
	});
	if (views === 0) {
		done();
		return;
	}
	asking.ask(
		{ type: "result" },
		{
			answered(answer) {
				if (answer.type !== "result") {
					// A panel that a program displayed stays one.
					done();
					return;
				}
				eachView(manager, (model, outputs, index) => {
					if (model === answer.model) {
						outputs.set(index, { output_type: "display_data", data: answer.bundle, metadata: {} });
					}
				});
				done();
			},
			silent() {},
		},
	);
}
