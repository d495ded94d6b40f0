/** The run behind a model: listens to it from its first message on, whether or not a panel is shown. */

import { Asking } from "../core/asking";
import { Check } from "../core/check";
import { Download } from "../core/download";
import type { Retain } from "../core/format";
import { Replica } from "../core/replica";
import type { StreamName } from "../core/wire";
import { send } from "./control";
import { watchKernel } from "./kernel";
import { LAST_AFTER, makeLast } from "./lasting";

import type { CompleteOutput } from "./link";
import { interruptKernel, type PanelModel, report } from "./model";
import { mountPanel } from "./panel";
import { Panels } from "./panels";
import { Results } from "./results";
import { requestStop } from "./stop";

/** Request ids begin anywhere below this, so that two pages of one run have different ones. */
const FIRST_IDS = 2 ** 52;
/** The messages that answer a question of the page. */
const ANSWERS = new Set<unknown>(["snapshot", "current"]);

export class Run {
	readonly #model: PanelModel;
	readonly #replica: Replica;
	readonly #signal: AbortSignal;
	readonly #asking: Asking;
	/** Of the run, not of a panel: a download goes on when the panel goes. */
	readonly #complete: Readonly<Record<StreamName, CompleteOutput>>;
	readonly #check: Check;
	readonly #results: Results;
	readonly #panels: Panels;
	#timer = 0;
	#timerAt = Number.POSITIVE_INFINITY;

	constructor(model: PanelModel, signal: AbortSignal) {
		this.#model = model;
		this.#signal = signal;
		this.#results = new Results(model.widget_manager, model.get("token"));
		this.#panels = new Panels(this.#results, (el, signal) => this.#make(el, signal), signal);
		const now = performance.now();
		const replica = new Replica(now);
		this.#replica = replica;
		this.#asking = new Asking(
			{
				send: (request) => send(model, request),
				later: (delay, action) => {
					const timer = window.setTimeout(action, delay);
					return () => clearTimeout(timer);
				},
			},
			Math.floor(Math.random() * FIRST_IDS),
		);
		this.#complete = { output: this.#completeOf("output"), stderr: this.#completeOf("stderr") };
		this.#take(() => replica.takeSnapshot(model.get("snapshot"), now));
		this.#check = new Check(replica, now);
		const onSnapshot = () => {
			this.#take(() => replica.takeSnapshot(model.get("snapshot"), performance.now()));
			this.#heard(false);
		};
		const onMessage = (content: unknown, buffers: unknown) => {
			this.#take(() => {
				if (!this.#asking.take(content, buffers)) {
					replica.takeMessage(content, performance.now());
				}
			});
			this.#heard(ANSWERS.has((content as { type?: unknown } | null)?.type));
		};
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
				clearTimeout(this.#timer);
			},
			{ once: true },
		);
		watchKernel(
			model,
			(link) => {
				const now = performance.now();
				replica.setLink(link, now);
				this.#check.look(replica, now);
				this.#plan(now);
			},
			signal,
		);
		this.#plan(now);
		this.#last();
	}

	/** Puts a panel into a view of the widget, which ends with `signal`. */
	mount(el: HTMLElement, signal: AbortSignal): void {
		this.#panels.mount(el, signal);
	}

	#make(el: HTMLElement, signal: AbortSignal): HTMLElement {
		const model = this.#model;
		const routes = {
			send: () => send(model, { type: "stop" }),
			foreground: () => model.get("foreground") === true,
			interrupt: () => interruptKernel(model),
		};
		const options = {
			command: String(model.get("command") ?? ""),
			retain: retainOf(model.get("retain")),
			complete: this.#complete,
			onStop: () => requestStop(this.#replica, routes, this.#signal),
		};
		return mountPanel(el, this.#replica, options, signal);
	}

	/** Once the run is over, and a little later: whether a panel is mounted or scrolled away. */
	#last(): void {
		let timer = 0;
		const look = () => {
			if (!this.#replica.running && timer === 0) {
				this.#panels.over();
				timer = window.setTimeout(() => {
					unsubscribe();
					this.#take(() => {
						makeLast(this.#model.widget_manager, this.#asking, () => {
							this.#panels.settled();
							if (this.#results.inNotebook > 0) {
								send(this.#model, { type: "placed" });
							}
						});
					});
				}, LAST_AFTER);
			}
		};
		const unsubscribe = this.#replica.subscribe(look);
		this.#signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
		look();
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

	#heard(answer: boolean): void {
		const now = performance.now();
		this.#check.heard(answer, now);
		this.#check.look(this.#replica, now);
		this.#plan(now);
	}

	/** Asks when it is due. A timer that comes too early looks again: ten messages a second need not set one each. */
	#plan(now: number): void {
		const { due } = this.#check;
		if (due !== null && due < this.#timerAt) {
			clearTimeout(this.#timer);
			this.#timerAt = due;
			this.#timer = window.setTimeout(() => this.#ask(), Math.max(0, due - now));
		}
	}

	#ask(): void {
		this.#timerAt = Number.POSITIVE_INFINITY;
		const now = performance.now();
		const { due } = this.#check;
		if (due !== null && due <= now) {
			const { seq, running } = this.#replica;
			send(this.#model, { type: "check", seq, running });
			this.#check.asked(this.#replica, now);
		}
		this.#plan(now);
	}
}

function retainOf(value: unknown): Retain {
	return value === "head" || value === "both" ? value : "tail";
}
