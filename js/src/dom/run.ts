/** The run behind a model: listens to it from its first message on, whether or not a panel is shown. */

import { Asking } from "../core/asking";
import { Download } from "../core/download";
import type { Retain } from "../core/format";
import { Replica } from "../core/replica";
import type { StreamName } from "../core/wire";
import { stopByControl } from "./control";
import type { CompleteOutput } from "./link";
import { interruptKernel, type PanelModel, report } from "./model";
import { mountPanel } from "./panel";
import { requestStop } from "./stop";

/** Request ids begin anywhere below this, so that two pages of one run have different ones. */
const FIRST_IDS = 2 ** 52;

export class Run {
	readonly #model: PanelModel;
	readonly #replica: Replica;
	readonly #signal: AbortSignal;
	readonly #asking: Asking;
	/** Of the run, not of a panel: a download goes on when the panel makes room for the static result. */
	readonly #complete: Readonly<Record<StreamName, CompleteOutput>>;

	constructor(model: PanelModel, signal: AbortSignal) {
		this.#model = model;
		this.#signal = signal;
		this.#replica = new Replica(performance.now());
		const onSnapshot = () => this.#take(() => this.#replica.takeSnapshot(model.get("snapshot"), performance.now()));
		this.#asking = new Asking(
			{
				send: (request) => model.send(request),
				later: (delay, action) => {
					const timer = window.setTimeout(action, delay);
					return () => clearTimeout(timer);
				},
			},
			Math.floor(Math.random() * FIRST_IDS),
		);
		this.#complete = { output: this.#completeOf("output"), stderr: this.#completeOf("stderr") };
		const onMessage = (content: unknown, buffers: unknown) =>
			this.#take(() => {
				if (!this.#asking.take(content, buffers)) {
					this.#replica.takeMessage(content, performance.now());
				}
			});
		const onLost = () => this.#asking.lose();
		model.on("change:snapshot", onSnapshot);
		model.on("msg:custom", onMessage);
		// When the kernel restarts or its comm closes. Not part of anywidget's contract: a host without them leaves a
		// request unanswered, and the panel says that it waits.
		model.on("comm_live_update", onLost);
		model.on("comm:close", onLost);
		signal.addEventListener(
			"abort",
			() => {
				model.off("change:snapshot", onSnapshot);
				model.off("msg:custom", onMessage);
				model.off("comm_live_update", onLost);
				model.off("comm:close", onLost);
				this.#asking.end();
			},
			{ once: true },
		);
		onSnapshot();
	}

	mount(el: HTMLElement, signal: AbortSignal): void {
		const model = this.#model;
		const routes = {
			send: () => {
				if (!stopByControl(model)) {
					model.send({ type: "stop" });
				}
			},
			foreground: () => model.get("foreground") === true,
			interrupt: () => interruptKernel(model),
		};
		const options = {
			command: String(model.get("command") ?? ""),
			retain: retainOf(model.get("retain")),
			complete: this.#complete,
			onStop: () => requestStop(this.#replica, routes, this.#signal),
		};
		mountPanel(el, this.#replica, options, signal);
	}

	#completeOf(stream: StreamName): CompleteOutput {
		return { asking: this.#asking, download: new Download(this.#asking, stream), stream };
	}

	/** What is malformed changes nothing; a number that is then missing is a gap, which the next replace closes. */
	#take(take: () => void): void {
		try {
			take();
		} catch (error) {
			report(error);
		}
	}
}

function retainOf(value: unknown): Retain {
	return value === "head" || value === "both" ? value : "tail";
}
