/**
 * The widgets' module for anywidget. A function, called once for each model: what it closes over is what all panels of
 * that model share.
 */

import type { PanelModel } from "./dom/model";
import { reopenTold } from "./dom/reopen";
import { Run } from "./dom/run";

export default () => {
	let run: Run | null = null;
	const life = new AbortController();
	return {
		/** Before any panel, and before any message is delivered: none is lost. */
		initialize({ model }: { model: PanelModel }): () => void {
			if (!reopenTold(model)) {
				run = new Run(model, life.signal);
			}
			return () => life.abort();
		},

		render({ el }: { el: HTMLElement }): () => void {
			const panel = new AbortController();
			run?.mount(el, panel.signal);
			return () => panel.abort();
		},
	};
};
