/** The text of one stream: a heading where there are two of them, the text area, and what is shown and kept of it. */

import { copiedText, type Retain } from "../core/format";
import type { Replica, ReplicaEvent } from "../core/replica";
import type { StreamName } from "../core/wire";
import { Body } from "./body";
import { copyButton } from "./copy";
import { element } from "./element";
import { Footer } from "./footer";
import { Heading } from "./heading";
import { type CompleteOutput, Link } from "./link";

/** What each stream is called where both are shown. */
const NAMES: Readonly<Record<StreamName, string>> = { output: "stdout", stderr: "stderr" };

export interface StreamOptions {
	/** What is read out as the name of the text area. */
	readonly label: string;
	readonly retain: Retain;
	readonly complete: CompleteOutput;
	/** Asks for a drawing with the next frame. */
	readonly redraw: () => void;
}

export class StreamView {
	readonly node: HTMLElement;
	readonly #replica: Replica;
	readonly #stream: StreamName;
	readonly #retain: Retain;
	readonly #heading: Heading;
	readonly #body: Body;
	readonly #footer = new Footer();
	readonly #link: Link;

	/** Shows what the replica has of the stream, and from then on what `note` tells of it. Ends with `signal`. */
	constructor(replica: Replica, stream: StreamName, options: StreamOptions, signal: AbortSignal) {
		this.#replica = replica;
		this.#stream = stream;
		this.#retain = options.retain;
		this.#heading = new Heading(
			NAMES[stream],
			copyButton(() => this.shownText(), signal),
		);
		this.#body = new Body(replica[stream], options.label, signal);
		this.#link = new Link(replica, options.complete, this.#body, options.redraw, signal);
		this.#footer.node.append(this.#link.node);
		this.node = element("div", "boundcap-stream", {}, this.#heading.node, this.#body.node, this.#footer.node);
		this.node.dataset.stream = stream;
	}

	/** The text that is shown, as plain text. */
	shownText(): string {
		const view = this.#replica[this.#stream];
		return view ? copiedText(view) : "";
	}

	/** Notes what an event changed, to be drawn with the next frame. */
	note(event: ReplicaEvent): void {
		if (event.stream === this.#stream) {
			this.#body.note(event);
		}
	}

	/** `named`: another stream is shown, too. */
	draw(named: boolean): void {
		const view = this.#replica[this.#stream];
		this.#heading.draw(view, named);
		this.#footer.draw(view, this.#retain);
		this.#link.draw(this.#retain);
		// Last: it asks for the height of the text, and what is changed after that is laid out once more.
		this.#body.draw(view);
	}
}
