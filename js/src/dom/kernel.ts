/**
 * Whether the kernel behind a widget is still there, as far as the host tells. None of it is part of anywidget's contract:
 * what a host does not offer is not asked, and then the link counts as live.
 */

import type { Link } from "../core/replica";
import type { PanelModel } from "./model";

/** Of @lumino/signaling, as JupyterLab's kernel connection has them. */
interface Signal {
	connect(slot: () => void): unknown;
	disconnect(slot: () => void): unknown;
}

interface KernelConnection {
	readonly status?: unknown;
	readonly connectionStatus?: unknown;
	readonly isDisposed?: unknown;
}

const SIGNALS = ["statusChanged", "connectionStatusChanged", "disposed"] as const;
/** A kernel that starts again is another kernel. */
const GONE = new Set<unknown>(["restarting", "autorestarting", "terminating", "dead"]);

/** Calls `tell` whenever the link may have changed; ends with `signal`. */
export function watchKernel(model: PanelModel, tell: (link: Link) => void, signal: AbortSignal): void {
	const closed = () => tell("gone");
	model.on("comm:close", closed);
	signal.addEventListener("abort", () => model.off("comm:close", closed), { once: true });

	const kernel = kernelOf(model);
	if (kernel === null) {
		return;
	}
	const look = () => tell(linkOf(kernel));
	for (const name of SIGNALS) {
		const changes = (kernel as Record<string, unknown>)[name];
		if (isSignal(changes)) {
			changes.connect(look);
			signal.addEventListener("abort", () => changes.disconnect(look), { once: true });
		}
	}
}

function linkOf({ status, connectionStatus, isDisposed }: KernelConnection): Link {
	if (GONE.has(status) || isDisposed === true) {
		return "gone";
	}
	return connectionStatus === "disconnected" || connectionStatus === "connecting" ? "lost" : "live";
}

function kernelOf(model: PanelModel): KernelConnection | null {
	const manager = model.widget_manager as { readonly kernel?: unknown } | null | undefined;
	const kernel = manager?.kernel;
	return typeof kernel === "object" ? kernel : null;
}

function isSignal(value: unknown): value is Signal {
	const signal = value as Partial<Signal> | null | undefined;
	return typeof signal?.connect === "function" && typeof signal.disconnect === "function";
}
