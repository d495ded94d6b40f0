/**
 * Lines that stand together, so that the browser lays out only the chunks that are seen (`content-visibility` in
 * panel.css), and so that what is not seen need not be made at all: a chunk is only as high as it would be until it is
 * painted.
 */

import type { Pen } from "../core/sgr";
import { element } from "./element";
import { paintLine } from "./line";

/**
 * Lines. Small enough that the one or two chunks in sight are cheap, large enough that those out of sight are few.
 */
const CHUNK_LINES = 100;

export interface Line {
	/** Null until it is painted. */
	node: HTMLElement | null;
	text: string;
	/** The pen at its start, and behind its end. */
	pen: Pen;
	after: Pen;
	/** All of it is shown, however long it is. */
	open: boolean;
}

export class Chunk {
	readonly node = element("div", "boundcap-chunk");
	readonly lines: Line[] = [];
	/** When it was made, in milliseconds of the page. */
	readonly made = performance.now();
	#painted = false;

	get painted(): boolean {
		return this.#painted;
	}

	get full(): boolean {
		return this.lines.length >= CHUNK_LINES;
	}

	add(line: Line): void {
		this.lines.push(line);
		if (this.#painted) {
			this.node.append(paintedLine(line));
		}
		if (this.full) {
			this.#tellSize();
		}
	}

	/** Takes lines away at the front. */
	drop(count: number): void {
		for (const line of this.lines.splice(0, count)) {
			line.node?.remove();
		}
		this.#tellSize();
	}

	/** Takes the last line away, if there is one. */
	takeLast(): Line | undefined {
		const line = this.lines.pop();
		line?.node?.remove();
		return line;
	}

	/** Makes the nodes of its lines, once. */
	paint(): void {
		if (!this.#painted) {
			this.#painted = true;
			this.node.append(...this.lines.map(paintedLine));
		}
	}

	/**
	 * The height that panel.css gives a chunk out of sight. Were it left to what the browser remembers, every slide would
	 * change the height of the whole, and with it the scroll position: one more frame an update.
	 */
	#tellSize(): void {
		this.node.style.setProperty("--boundcap-chunk-lines", String(this.lines.length));
	}
}

function paintedLine(line: Line): HTMLElement {
	line.node = element("div", "boundcap-line");
	paintLine(line.node, line.text, line.pen, line.open);
	return line.node;
}
