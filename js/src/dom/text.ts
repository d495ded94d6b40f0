/**
 * The lines of a view as nodes. A change touches the lines that change and no others; lines stand in chunks, so that
 * the browser lays out the chunks that are seen (`content-visibility` in panel.css).
 *
 * The text of all nodes together is the text of the view without its escape sequences, but for long lines, which are
 * clipped until someone opens them.
 */

import type { TextChange } from "../core/change";
import { type Pen, samePen } from "../core/sgr";
import { element } from "./element";
import { extendLine, MORE, paintLine } from "./line";

/**
 * Lines. Small enough that the one or two chunks in sight are cheap, large enough that those out of sight are few.
 * Measured with 2,000 coloured lines at 10 updates a second: 92 ms of work a second, 245 ms without chunks.
 */
const CHUNK_LINES = 100;

interface Line {
	readonly node: HTMLElement;
	text: string;
	/** The pen at its start, and behind its end. */
	pen: Pen;
	after: Pen;
	/** All of it is shown, however long it is. */
	open: boolean;
}

interface Chunk {
	readonly node: HTMLElement;
	readonly lines: Line[];
}

export class TextNodes {
	readonly #root: HTMLElement;
	readonly #chunks: Chunk[] = [];

	constructor(root: HTMLElement) {
		this.#root = root;
		root.addEventListener("click", (event) => this.#clicked(event.target));
	}

	/** Makes the change; `lead` is the pen in force where the text then starts. */
	apply(change: TextChange, lead: Pen): void {
		this.#drop(change.drop);
		this.#cut(change.cut);
		this.#repaintFrom(lead);
		this.#append(change.text, lead);
	}

	/** The first line that ends below `y` of the page's viewport: where a reader's eye is. */
	lineAt(y: number): HTMLElement | null {
		const below = ({ node }: { node: HTMLElement }) => node.getBoundingClientRect().bottom > y;
		return this.#chunks.find(below)?.lines.find(below)?.node ?? null;
	}

	#drop(units: number): void {
		let left = units;
		for (let chunk = this.#chunks[0]; chunk !== undefined && left > 0; chunk = this.#chunks[0]) {
			const gone = chunk.lines.findIndex((line) => {
				if (line.text.length > left) {
					return true;
				}
				left -= line.text.length;
				return false;
			});
			const first = chunk.lines[gone];
			if (first !== undefined) {
				for (const line of chunk.lines.splice(0, gone)) {
					line.node.remove();
				}
				tellSize(chunk);
				if (left > 0) {
					// Without a pen that fits, #repaintFrom paints it.
					first.text = first.text.slice(left);
					first.node.replaceChildren();
				}
				return;
			}
			chunk.node.remove();
			this.#chunks.shift();
		}
	}

	#cut(units: number): void {
		let left = units;
		while (left > 0) {
			const line = this.#takeLast();
			if (line === null) {
				return;
			}
			if (line.text.length > left) {
				this.#put(line.text.slice(0, line.text.length - left), line.pen, line.open);
			}
			left -= Math.min(left, line.text.length);
		}
	}

	/** Paints lines until the pen is the one that the next line was painted with: for a slide, none. */
	#repaintFrom(lead: Pen): void {
		let pen = lead;
		for (const chunk of this.#chunks) {
			for (const line of chunk.lines) {
				if (line.node.hasChildNodes() && samePen(line.pen, pen)) {
					return;
				}
				line.pen = pen;
				line.after = paintLine(line.node, line.text, pen, line.open);
				pen = line.after;
			}
		}
	}

	#append(text: string, lead: Pen): void {
		if (text === "") {
			return;
		}
		const last = this.#chunks.at(-1)?.lines.at(-1);
		let pen = last?.after ?? lead;
		let rest = text;
		if (last !== undefined && !last.text.endsWith("\n")) {
			const end = behindNewline(text, 0);
			const added = text.slice(0, end);
			last.text += added;
			if (!extendLine(last.node, last.text, added)) {
				last.after = paintLine(last.node, last.text, last.pen, last.open);
			}
			pen = last.after;
			rest = text.slice(end);
		}
		for (let start = 0; start < rest.length; ) {
			const end = behindNewline(rest, start);
			pen = this.#put(rest.slice(start, end), pen);
			start = end;
		}
	}

	/** Adds a line at the end; returns the pen behind it. */
	#put(text: string, pen: Pen, open = false): Pen {
		let chunk = this.#chunks.at(-1);
		if (chunk === undefined || chunk.lines.length >= CHUNK_LINES) {
			chunk = { node: element("div", "boundcap-chunk"), lines: [] };
			this.#chunks.push(chunk);
			this.#root.append(chunk.node);
		}
		const node = element("div", "boundcap-line");
		const after = paintLine(node, text, pen, open);
		chunk.node.append(node);
		chunk.lines.push({ node, text, pen, after, open });
		if (chunk.lines.length === CHUNK_LINES) {
			tellSize(chunk);
		}
		return after;
	}

	#clicked(target: EventTarget | null): void {
		if (target instanceof Element && target.classList.contains(MORE)) {
			const line = this.#chunks.flatMap(({ lines }) => lines).find(({ node }) => node.contains(target));
			if (line !== undefined) {
				line.open = !line.open;
				paintLine(line.node, line.text, line.pen, line.open);
			}
		}
	}

	#takeLast(): Line | null {
		const chunk = this.#chunks.at(-1);
		const line = chunk?.lines.pop();
		if (chunk === undefined || line === undefined) {
			return null;
		}
		line.node.remove();
		if (chunk.lines.length === 0) {
			chunk.node.remove();
			this.#chunks.pop();
		}
		return line;
	}
}

/**
 * The height that panel.css gives a chunk out of sight. Were it left to what the browser remembers, every slide would
 * change the height of the whole, and with it the scroll position: one more frame an update.
 */
function tellSize({ node, lines }: Chunk): void {
	node.style.setProperty("--boundcap-chunk-lines", String(lines.length));
}

function behindNewline(text: string, start: number): number {
	const newline = text.indexOf("\n", start);
	return newline === -1 ? text.length : newline + 1;
}
