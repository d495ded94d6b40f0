/** The text area: the frozen head where both ends are kept, the marker of what is missing, and the text. */

import type { OlderAnswer } from "../core/answers";
import { compose, NO_CHANGE, type TextChange } from "../core/change";
import { omissionText } from "../core/format";
import type { Gap } from "../core/older";
import type { ReplicaEvent } from "../core/replica";
import { PLAIN } from "../core/sgr";
import { penOf } from "../core/spans";
import type { OutputView } from "../core/wire";
import { element, setText } from "./element";
import { Follow } from "./follow";
import { OlderText } from "./older";
import { TextNodes } from "./text";

export class Body {
	readonly node: HTMLElement;
	readonly #head = element("div", "boundcap-head");
	readonly #omission = element("div", "boundcap-omission");
	readonly #older: OlderText;
	readonly #text = element("div", "boundcap-lines-shown");
	readonly #area: HTMLElement;
	readonly #follow: Follow;
	readonly #nodes: TextNodes;
	#pending: TextChange;
	#pendingHead = true;
	#drawnLength = 0;
	readonly #headNodes: TextNodes;
	#headLength = 0;

	/** `output` is what there is already; `draw` is given what it became by the events that were noted since. */
	constructor(output: OutputView | null, label: string, signal: AbortSignal) {
		this.#pending = { ...NO_CHANGE, text: output?.text ?? "" };
		this.#nodes = new TextNodes(this.#text, signal);
		this.#headNodes = new TextNodes(this.#head, signal);
		// It stays: there is nothing to wait for.
		this.#headNodes.read = true;
		this.#older = new OlderText(signal);
		const content = element("div", "boundcap-content", {}, this.#head, this.#omission, this.#older.node, this.#text);
		// A log, but one that is read when the reader wants to: announced as it comes it would never be silent.
		const log = { role: "log", "aria-live": "off", "aria-label": label, tabindex: "0" };
		this.#area = element("div", "boundcap-text", log, content);
		const latest = element("button", "boundcap-latest", { type: "button" }, "↓ latest");
		latest.hidden = true;
		this.node = element("div", "boundcap-body", {}, this.#area, latest);
		this.#follow = new Follow(
			this.#area,
			content,
			(y) => this.#nodes.lineAt(y),
			() => {
				latest.hidden = this.#follow.following;
				this.#nodes.read = !this.#follow.following;
			},
			signal,
		);
		latest.addEventListener(
			"click",
			() => {
				this.#follow.toEnd();
				// The button goes; the focus stays near.
				this.#area.focus({ preventScroll: true });
			},
			{ signal },
		);
		this.#area.addEventListener("keydown", (event) => this.#keyPressed(event), { signal });
	}

	/** Notes what an event changed, to be drawn with the next frame. */
	note({ change, head }: ReplicaEvent): void {
		this.#pending = compose(this.#drawnLength, this.#pending, change);
		this.#pendingHead ||= head;
	}

	draw(output: OutputView | null): void {
		const change = this.#pending;
		this.#area.hidden = !output?.text && !output?.head;
		if (output !== null && (this.#pendingHead || change !== NO_CHANGE)) {
			this.#follow.keep(() => {
				this.#drawHead(output.head);
				this.#nodes.apply(change, penOf(output.metadata.leadSgr, PLAIN));
			});
			this.#drawnLength = output.text.length;
		}
		if (output !== null && output.head !== "") {
			setText(this.#omission, omissionText(output.metadata));
		}
		this.#omission.hidden = !output?.head || output.metadata.omittedBytes === 0;
		this.#pending = NO_CHANGE;
		this.#pendingHead = false;
	}

	/** Puts older lines above the text, and the reader at the last of them. */
	showOlder(answer: OlderAnswer): void {
		const block = this.#older.add(answer);
		this.#follow.reveal(block);
	}

	drawGap(gap: Gap | null): void {
		// Nearly always there is none, and keeping the reader's place costs a layout.
		if (gap !== null || this.#older.hasGap) {
			this.#follow.keep(() => this.#older.draw(gap));
		}
	}

	#drawHead(head: string): void {
		if (this.#pendingHead) {
			this.#headNodes.apply({ drop: this.#headLength, cut: 0, text: head }, PLAIN);
			this.#headLength = head.length;
		}
	}

	#keyPressed(event: KeyboardEvent): void {
		if (event.key === "End" && !event.ctrlKey && !event.metaKey && !event.altKey) {
			// An animated scroll would chase an end that moves away.
			event.preventDefault();
			this.#follow.toEnd();
		}
	}
}
