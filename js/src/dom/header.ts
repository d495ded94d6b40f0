/** The line of state: what the run is doing, how long, how much, and the way to end it. */

import {
	formatBytes,
	formatDuration,
	formatLines,
	formatQuiet,
	formatRate,
	LINK_LABELS,
	outcomeOf,
	stateLabel,
	untilNextDuration,
} from "../core/format";
import type { Pace } from "../core/pace";
import type { Replica } from "../core/replica";
import { element, setText } from "./element";
import { MOST_REQUESTS } from "./stop";

/**
 * Milliseconds after a drawing for other reasons. What is drawn several times a second ticks with that: a tick in
 * between would be a frame more.
 */
const FIRST_TICK = 250;
/** Milliseconds. A tenth of a second that is passed over now and then is not seen. */
const LEAST_TICK = 100;
/** Milliseconds. A timer that came a little early would show the same once more. */
const LATE = 1;
/** Milliseconds. The rate and the silence change once a second, however coarse the elapsed time is by then. */
const LONGEST_TICK = 1000;
/** Milliseconds without output that are worth a word: shorter pauses are how programs print. */
const QUIET_AFTER = 5000;

export class Header {
	readonly node: HTMLElement;
	readonly #replica: Replica;
	/** `role=status` announces a new state; figures that tick stand outside it. */
	readonly #state = element("span", "boundcap-state", { role: "status" });
	readonly #elapsed = element("span", "boundcap-elapsed boundcap-figure", { title: "elapsed time" });
	readonly #bytes = element("span", "boundcap-bytes boundcap-figure", { title: "bytes of output in all" });
	readonly #lines = element("span", "boundcap-lines boundcap-figure", { title: "lines of output in all" });
	/** Last of the figures: its width changes, and moves no other. */
	readonly #pace = element("span", "boundcap-pace boundcap-figure");
	readonly #silent = element("span", "boundcap-silent boundcap-figure", {}, "stderr: nothing");
	readonly #stop = element("button", "boundcap-stop", { type: "button" }, "Stop");
	#timer = 0;
	readonly #tools: HTMLElement;

	/** `tools` are buttons for the text, shown as soon as there is one. */
	constructor(replica: Replica, onStop: () => void, tools: readonly HTMLElement[], signal: AbortSignal) {
		this.#replica = replica;
		this.#stop.addEventListener("click", onStop, { signal });
		signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
		const dot = element("span", "boundcap-dot", { "aria-hidden": "true" });
		const figures = element(
			"span",
			"boundcap-figures",
			{},
			this.#elapsed,
			this.#bytes,
			this.#lines,
			this.#silent,
			this.#pace,
		);
		this.#tools = element("span", "boundcap-tools", {}, ...tools);
		this.node = element("div", "boundcap-header", {}, dot, this.#state, figures, this.#tools, this.#stop);
	}

	/** `totals`: those of the output stand here, since there is one text only. */
	draw(totals: boolean): void {
		const { status, output, stderr, running, ticking, stops, link } = this.#replica;
		const truncation = output?.metadata.truncation;
		const cutOff = running && link !== "live" ? link : null;
		this.node.dataset.outcome = cutOff ? "ended" : outcomeOf(status);
		setText(this.#state, cutOff ? LINK_LABELS[cutOff] : running && stops > 0 ? "stopping…" : stateLabel(status));
		setText(this.#bytes, formatBytes(truncation?.totalBytes ?? 0));
		setText(this.#lines, formatLines(truncation?.totalLines ?? 0));
		this.#bytes.hidden = this.#lines.hidden = !totals;
		this.#silent.hidden = !totals || stderr === null;
		this.#tools.hidden = this.#replica.totalBytes === 0;
		this.#stop.hidden = !ticking;
		this.#stop.disabled = stops >= MOST_REQUESTS;
		this.#stop.title = stops === 0 ? "ask the command to end, as Ctrl-C does" : "end it at once";
		setText(this.#stop, stops === 0 ? "Stop" : "Kill");
		this.#tick(FIRST_TICK);
	}

	#tick(least = LEAST_TICK): void {
		clearTimeout(this.#timer);
		const now = performance.now();
		const seconds = this.#replica.elapsed(now);
		setText(this.#elapsed, formatDuration(seconds));
		setText(this.#pace, this.#replica.ticking ? paceText(this.#replica.pace, now) : "");
		if (this.#replica.ticking) {
			this.#timer = window.setTimeout(() => this.#tick(), waitFor(untilNextDuration(seconds) * 1000, least));
		}
	}
}

/** Milliseconds until the elapsed time says something else, `least` or a tenth of a second more. */
function waitFor(next: number, least: number): number {
	const tenths = Math.max(0, Math.ceil((least - next) / LEAST_TICK));
	return Math.min(LONGEST_TICK, next + tenths * LEAST_TICK) + LATE;
}

function paceText(pace: Pace, now: number): string {
	const quiet = pace.quiet(now);
	if (quiet >= QUIET_AFTER) {
		return formatQuiet(quiet / 1000);
	}
	const rate = pace.rate(now);
	return rate === null ? "" : formatRate(rate);
}
