/** The lines that "Show more" brought, above the text of the view, and the mark of what has left the view since. */

import type { OlderAnswer } from "../core/answers";
import { NO_CHANGE } from "../core/change";
import { omissionText } from "../core/format";
import type { Gap } from "../core/older";
import { PLAIN } from "../core/sgr";
import { penOf } from "../core/spans";
import { element, setText } from "./element";
import { TextNodes } from "./text";

export class OlderText {
	readonly #blocks = element("div", "boundcap-older-blocks");
	readonly #gap = element("div", "boundcap-omission");
	readonly node = element("div", "boundcap-older", {}, this.#blocks, this.#gap);

	readonly #signal: AbortSignal;

	constructor(signal: AbortSignal) {
		this.#signal = signal;
		this.draw(null);
	}

	/** Puts a step above all others; returns its node. */
	add({ text, leadSgr }: OlderAnswer): HTMLElement {
		const block = element("div", "boundcap-older-block");
		const nodes = new TextNodes(block, this.#signal);
		nodes.apply({ ...NO_CHANGE, text }, penOf(leadSgr, PLAIN));
		nodes.read = true;
		this.#blocks.prepend(block);
		return block;
	}

	get hasGap(): boolean {
		return !this.#gap.hidden;
	}

	draw(gap: Gap | null): void {
		this.#gap.hidden = gap === null;
		if (gap !== null) {
			setText(this.#gap, omissionText(gap));
		}
	}
}
