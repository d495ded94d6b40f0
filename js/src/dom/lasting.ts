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

/** What is used of a notebook's list of outputs (IOutputAreaModel of @jupyterlab/outputarea). */
interface Outputs {
	readonly length: number;
	get(index: number): { readonly data?: Record<string, unknown> } | undefined;
	set(index: number, output: Record<string, unknown>): void;
}

/** Calls `take` for each output that shows a widget, with the id of its model. */
function eachView(manager: unknown, take: (outputs: Outputs, index: number, model: string) => void): void {
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
			const view = outputs.get(index)?.data?.[WIDGET_VIEW] as { model_id?: unknown } | undefined;
			if (typeof view?.model_id === "string") {
				take(outputs as Outputs, index, view.model_id);
			}
		}
	}
}

/** Replaces the panel of this run by its result wherever the notebook still has it. Costs a message if it has any. */
export function makeLast(manager: unknown, asking: Asking): void {
	let views = 0;
	eachView(manager, () => {
		views += 1;
	});
	if (views === 0) {
		return;
	}
	asking.ask(
		{ type: "result" },
		{
			answered(answer) {
				if (answer.type !== "result") {
					// A panel that a program displayed stays one.
					return;
				}
				eachView(manager, (outputs, index, model) => {
					if (model === answer.model) {
						outputs.set(index, { output_type: "display_data", data: answer.bundle, metadata: {} });
					}
				});
			},
			silent() {},
		},
	);
}
