/** One panel: header, text and footer of a run, drawn at most once a frame. */

import type { Retain } from "../core/format";
import type { Replica } from "../core/replica";
import { Body } from "./body";
import { element } from "./element";
import { Footer } from "./footer";
import { Frames } from "./frames";
import { Header } from "./header";
import { type CompleteOutput, Link } from "./link";

export interface PanelOptions {
	readonly command: string;
	readonly retain: Retain;
	readonly complete: CompleteOutput;
	onStop(): void;
}

/** Characters of the command that the label of a panel reads out: enough to know which run it is. */
const LABEL_LENGTH = 80;

/** Puts a panel into `el`. With `signal` every listener, timer and frame of it ends, and it leaves the page. */
export function mountPanel(el: HTMLElement, replica: Replica, options: PanelOptions, signal: AbortSignal): void {
	const name = nameOf(options.command);
	const header = new Header(replica, options.onStop, signal);
	const body = new Body(replica, name === "" ? "output" : `output of ${name}`, signal);
	const footer = new Footer();
	const link = new Link(replica, options.complete, body, () => frames.request(), signal);
	footer.node.append(link.node);
	const panel = element(
		"div",
		"boundcap-panel",
		{ role: "group", "aria-label": name === "" ? "bounded run" : `bounded run of ${name}` },
		header.node,
		body.node,
		footer.node,
	);
	const draw = () => {
		panel.dataset.state = replica.status.state;
		header.draw();
		body.draw();
		footer.draw(replica, options.retain);
		link.draw(options.retain);
	};
	const frames = new Frames(draw, signal);
	const unsubscribe = replica.subscribe((event) => {
		body.note(event);
		frames.request();
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
}

function nameOf(command: string): string {
	const line = command.trim().split("\n", 1)[0] ?? "";
	return line.length > LABEL_LENGTH ? `${line.slice(0, LABEL_LENGTH)}…` : line;
}
