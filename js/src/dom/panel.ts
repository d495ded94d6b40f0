/** One panel: header and text of a run, or both its texts, drawn at most once a frame. */

import { addsLines } from "../core/change";
import { heldText, LAST_SEEN, type Retain } from "../core/format";
import type { Replica } from "../core/replica";
import type { StreamName } from "../core/wire";
import { copyButton } from "./copy";
import { element, setText } from "./element";
import { Frames, LEAST_GAP } from "./frames";
import { Header } from "./header";
import { keepKeys } from "./keys";
import { Layout } from "./layout";
import type { CompleteOutput } from "./link";
import { StreamView } from "./stream";

export interface PanelOptions {
	readonly command: string;
	readonly retain: Retain;
	readonly complete: Readonly<Record<StreamName, CompleteOutput>>;
	onStop(): void;
}

/** Lines at once, ten times a second: nobody reads that fast, and a third of what is seen has gone by. */
const FAST_LINES = 8;
/** Milliseconds between two drawings of text that comes that fast. The first after a pause is drawn at once all the same. */
const FAST_GAP = 200;
/** Characters of the command that the label of a panel reads out: enough to know which run it is. */
const LABEL_LENGTH = 80;

/**
 * Puts a panel into `el` and returns its node. With `signal` every listener, timer and frame of it ends, and it leaves the
 * page.
 */
export function mountPanel(el: HTMLElement, replica: Replica, options: PanelOptions, signal: AbortSignal): HTMLElement {
	const name = nameOf(options.command);
	const streams: StreamView[] = [];
	const detail = element("div", "boundcap-footer boundcap-detail");
	const held = element("div", "boundcap-footer boundcap-held");
	const label = name === "" ? "bounded run" : `bounded run of ${name}`;
	const panel = element("div", "boundcap-panel", { role: "group", "aria-label": label }, held, detail);
	// Where there are two texts, each has its own in its heading.
	const copy = copyButton(() => streams.map((stream) => stream.shownText()).join(""), signal);
	const layout = new Layout(panel, signal);
	const header = new Header(replica, options.onStop, [copy, ...layout.nodes], signal);
	panel.prepend(header.node);
	keepKeys(panel, signal);
	const addStream = (stream: StreamName, what: string) => {
		const label = name === "" ? what : `${what} of ${name}`;
		const complete = options.complete[stream];
		const streamOptions = { label, retain: options.retain, complete, redraw: () => frames.request() };
		const view = new StreamView(replica, stream, streamOptions, signal);
		streams.push(view);
		held.before(view.node);
	};
	addStream("output", "output");
	const draw = () => {
		// The second text comes with its first byte: most commands have none.
		if (streams.length === 1 && replica.stderr?.metadata.truncation.totalBytes) {
			addStream("stderr", "standard error");
		}
		const several = streams.length > 1;
		panel.dataset.state = replica.status.state;
		panel.dataset.link = replica.link;
		copy.hidden = several;
		header.draw(!several);
		for (const stream of streams) {
			stream.draw(several);
		}
		setText(detail, detailOf(replica));
		detail.hidden = detail.textContent === "";
		setText(held, heldText(replica.status));
		held.hidden = held.textContent === "";
	};
	const frames = new Frames(draw, signal);
	const unsubscribe = replica.subscribe((event) => {
		for (const stream of streams) {
			stream.note(event);
		}
		frames.request(addsLines(event.change, FAST_LINES) ? FAST_GAP : LEAST_GAP);
	});
	signal.addEventListener(
		"abort",
		() => {
			unsubscribe();
			panel.remove();
		},
		{ once: true },
	);
	el.append(panel);
	draw();
	return panel;
}

/** Why the run failed, or why nothing more is known of it. */
function detailOf({ status, running, link }: Replica): string {
	if (running) {
		return link === "live" ? "" : LAST_SEEN;
	}
	// That the time was up is the state itself.
	return status.state === "timeout" ? "" : status.detail;
}

function nameOf(command: string): string {
	const line = command.trim().split("\n", 1)[0] ?? "";
	return line.length > LABEL_LENGTH ? `${line.slice(0, LABEL_LENGTH)}…` : line;
}
