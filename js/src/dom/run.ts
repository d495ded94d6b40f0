/** The run behind a model: listens to it from its first message on, whether or not a panel is shown. */

import { Check } from "../core/check";
import type { Retain } from "../core/format";
import { Replica } from "../core/replica";
import { watchKernel } from "./kernel";
import { interruptKernel, type PanelModel, report } from "./model";
import { mountPanel } from "./panel";
import { requestStop } from "./stop";

/** The messages that answer a question of the page. */
const ANSWERS = new Set<unknown>(["snapshot", "current"]);

export class Run {
	readonly #model: PanelModel;
	readonly #replica: Replica;
	readonly #signal: AbortSignal;
	readonly #check: Check;
	#timer = 0;
	#timerAt = Number.POSITIVE_INFINITY;

	constructor(model: PanelModel, signal: AbortSignal) {
		this.#model = model;
		this.#signal = signal;
		const now = performance.now();
		const replica = new Replica(now);
		this.#replica = replica;
		const attempt = (take: () => void) => {
			try {
				take();
			} catch (error) {
				// What is malformed changes nothing; a number that is then missing is a gap, which the next replace closes.
				report(error);
			}
		};
		attempt(() => replica.takeSnapshot(model.get("snapshot"), now));
		this.#check = new Check(replica, now);
		const onSnapshot = () => {
			attempt(() => replica.takeSnapshot(model.get("snapshot"), performance.now()));
			this.#heard(false);
		};
		const onMessage = (content: unknown) => {
			attempt(() => replica.takeMessage(content, performance.now()));
			this.#heard(ANSWERS.has((content as { type?: unknown } | null)?.type));
		};
		model.on("change:snapshot", onSnapshot);
		model.on("msg:custom", onMessage);
		signal.addEventListener(
			"abort",
			() => {
				model.off("change:snapshot", onSnapshot);
				model.off("msg:custom", onMessage);
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
			this.#model.send({ type: "check", seq, running });
			this.#check.asked(this.#replica, now);
		}
		this.#plan(now);
	}
}

function retainOf(value: unknown): Retain {
	return value === "head" || value === "both" ? value : "tail";
}
