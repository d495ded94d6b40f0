/** What the panel uses of the widget's model: anywidget's front-end contract, and beside it what may be there. */

import type { Request } from "../core/answers";
import type { PanelMessage } from "../core/wire";

export interface PanelModel {
	get(name: string): unknown;
	on(event: string, listener: (...values: never[]) => void): void;
	off(event: string, listener: (...values: never[]) => void): void;
	send(message: PanelMessage | Request): void;
	/** Not part of the contract; a host may leave it out. */
	readonly widget_manager?: unknown;
}

/** Interrupts the kernel behind the widget, where the host gives a way to it. */
export function interruptKernel(model: PanelModel): void {
	const manager = model.widget_manager as
		| { kernel?: { interrupt?: () => Promise<unknown> | undefined } | null }
		| null
		| undefined;
	try {
		Promise.resolve(manager?.kernel?.interrupt?.()).catch(report);
	} catch (error) {
		report(error);
	}
}

/** Said where a developer looks; the panel goes on with what it has. */
export function report(error: unknown): void {
	console.warn("boundcap:", error);
}
