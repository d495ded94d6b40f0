/** The run behind a model: listens to it from its first message on, whether or not a panel is shown. */

import type { Retain } from "../core/format";
import { Replica } from "../core/replica";
import { interruptKernel, type PanelModel, report } from "./model";
import { mountPanel } from "./panel";
import { requestStop } from "./stop";

export class Run {
	readonly #model: PanelModel;
	readonly #replica: Replica;
	readonly #signal: AbortSignal;

	constructor(model: PanelModel, signal: AbortSignal) {
		this.#model = model;
		this.#signal = signal;
		this.#replica = new Replica(performance.now());
		const onSnapshot = () => this.#take(() => this.#replica.takeSnapshot(model.get("snapshot"), performance.now()));
		const onMessage = (content: unknown) => this.#take(() => this.#replica.takeMessage(content, performance.now()));
		model.on("change:snapshot", onSnapshot);
		model.on("msg:custom", onMessage);
		signal.addEventListener(
			"abort",
			() => {
				model.off("change:snapshot", onSnapshot);
				model.off("msg:custom", onMessage);
			},
			{ once: true },
		);
		onSnapshot();
	}

	mount(el: HTMLElement, signal: AbortSignal): void {
		const model = this.#model;
		const routes = {
			send: () => model.send({ type: "stop" }),
			foreground: () => model.get("foreground") === true,
			interrupt: () => interruptKernel(model),
		};
		const options = {
			command: String(model.get("command") ?? ""),
			retain: retainOf(model.get("retain")),
			onStop: () => requestStop(this.#replica, routes, this.#signal),
		};
		mountPanel(el, this.#replica, options, signal);
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
