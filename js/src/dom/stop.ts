/** The way from the Stop button to the command. */

import type { Replica } from "../core/replica";

/**
 * Milliseconds. A kernel that can hear says so within 20; one whose main thread is blocked says nothing until the cell
 * has ended. Long enough for a far server, short enough that a person still waits.
 */
export const ACKNOWLEDGE_WITHIN = 800;

/** Asked once, the command may end in its own way; asked twice, it is ended at once. There is no third. */
export const MOST_REQUESTS = 2;

export interface StopRoutes {
	/** Asks the kernel's side of the widget. */
	send(): void;
	/** True while the kernel's main thread waits on this very run. */
	foreground(): boolean;
	/** Interrupts the kernel, as its own button does. */
	interrupt(): void;
}

/**
 * Asks for the end of the run. The kernel is interrupted only when it stays silent and its main thread waits on this run:
 * stopping a run in the background never interrupts another cell.
 */
export function requestStop(replica: Replica, routes: StopRoutes, signal: AbortSignal): void {
	if (!replica.ticking || replica.stops >= MOST_REQUESTS) {
		return;
	}
	replica.askToStop();
	const request = replica.stopsAsked;
	const timer = window.setTimeout(() => {
		if (replica.ticking && replica.stopsHeard < request && routes.foreground()) {
			routes.interrupt();
		}
	}, ACKNOWLEDGE_WITHIN);
	signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
	routes.send();
}
