/** The line of state: what the run is doing, how long, how much, and the way to end it. */

import { formatBytes, formatDuration, formatLines, outcomeOf, stateLabel, untilNextDuration } from "../core/format";
import type { Replica } from "../core/replica";
import { element, setText } from "./element";
import { MOST_REQUESTS } from "./stop";

/** Milliseconds. A timer that comes a little early would otherwise ask again at once. */
const LEAST_TICK = 20;

export class Header {
	readonly node: HTMLElement;
	readonly #replica: Replica;
	/** `role=status` announces a new state; figures that tick stand outside it. */
	readonly #state = element("span", "boundcap-state", { role: "status" });
	readonly #elapsed = element("span", "boundcap-elapsed boundcap-figure", { title: "elapsed time" });
	readonly #bytes = element("span", "boundcap-bytes boundcap-figure", { title: "bytes of output in all" });
	readonly #lines = element("span", "boundcap-lines boundcap-figure", { title: "lines of output in all" });
	readonly #silent = element("span", "boundcap-silent boundcap-figure", {}, "stderr: nothing");
	readonly #stop = element("button", "boundcap-stop", { type: "button" }, "Stop");
	#timer = 0;

	constructor(replica: Replica, onStop: () => void, signal: AbortSignal) {
		this.#replica = replica;
		this.#stop.addEventListener("click", onStop, { signal });
		signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
		const dot = element("span", "boundcap-dot", { "aria-hidden": "true" });
		const figures = element("span", "boundcap-figures", {}, this.#elapsed, this.#bytes, this.#lines, this.#silent);
		this.node = element("div", "boundcap-header", {}, dot, this.#state, figures, this.#stop);
	}

	/** `totals`: those of the output stand here, since there is one text only. */
	draw(totals: boolean): void {
		const { status, output, stderr, running, stops } = this.#replica;
		const truncation = output?.metadata.truncation;
		this.node.dataset.outcome = outcomeOf(status);
		setText(this.#state, running && stops > 0 ? "stopping…" : stateLabel(status));
		setText(this.#bytes, formatBytes(truncation?.totalBytes ?? 0));
		setText(this.#lines, formatLines(truncation?.totalLines ?? 0));
		this.#bytes.hidden = this.#lines.hidden = !totals;
		this.#silent.hidden = !totals || stderr === null;
		this.#stop.hidden = !running;
		this.#stop.disabled = stops >= MOST_REQUESTS;
		this.#stop.title = stops === 0 ? "ask the command to end, as Ctrl-C does" : "end it at once";
		setText(this.#stop, stops === 0 ? "Stop" : "Kill");
		this.#tick();
	}

	#tick(): void {
		clearTimeout(this.#timer);
		const seconds = this.#replica.elapsed(performance.now());
		setText(this.#elapsed, formatDuration(seconds));
		if (this.#replica.running) {
			this.#timer = window.setTimeout(() => this.#tick(), Math.max(LEAST_TICK, untilNextDuration(seconds) * 1000));
		}
	}
}
