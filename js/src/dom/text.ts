/**
 * The lines of a view as nodes. A change touches the lines that change and no others.
 *
 * The text of all nodes together is the text of the view without its escape sequences, but for long lines, which are
 * clipped until someone opens them, and for chunks that nobody has come near yet. A command that prints thousands of lines
 * a second replaces them before anyone could: making them all took three quarters of the time. What has been there for a
 * while is painted, a chunk at a time, so that the page's own search and selection find it.
 */

import type { TextChange } from "../core/change";
import { type Pen, samePen } from "../core/sgr";
import { penOf } from "../core/spans";
import { Chunk, type Line } from "./chunk";
import { extendLine, MORE, paintLine } from "./line";

/** Chunks at the end that are painted at once: all that is seen where the tail is followed. As in panel.css. */
const PAINTED_AT_END = 2;
/** Milliseconds after which a chunk is painted wherever it is. */
const LEFT_FOR = 1000;

export class TextNodes {
	readonly #root: HTMLElement;
	readonly #chunks: Chunk[] = [];
	readonly #signal: AbortSignal;
	#timer = 0;
	#read = false;

	/** Fills `root`, which is the parent of nothing else. Ends with `signal`. */
	constructor(root: HTMLElement, signal: AbortSignal) {
		this.#root = root;
		this.#signal = signal;
		root.addEventListener("click", (event) => this.#clicked(event.target));
		// A chunk comes near to what is seen.
		root.addEventListener("contentvisibilityautostatechange", ({ target }) => this.#near(target), { capture: true });
		signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
	}

	/** Makes the change; `lead` is the pen in force where the text then starts. */
	apply(change: TextChange, lead: Pen): void {
		this.#drop(change.drop);
		this.#cut(change.cut);
		this.#repaintFrom(lead);
		this.#append(change.text, lead);
		for (const chunk of this.#chunks.slice(-PAINTED_AT_END)) {
			chunk.paint();
		}
		this.#plan();
	}

	/** The first line that ends below `y` of the page's viewport: where a reader's eye is. */
	lineAt(y: number): HTMLElement | null {
		const below = (node: HTMLElement | null) => node !== null && node.getBoundingClientRect().bottom > y;
		const chunk = this.#chunks.find(({ node }) => below(node));
		chunk?.paint();
		return chunk?.lines.find(({ node }) => below(node))?.node ?? null;
	}

	/** Whether someone goes through the text: all of it is then painted without waiting, a chunk at a time. */
	set read(read: boolean) {
		this.#read = read;
		if (read) {
			clearTimeout(this.#timer);
			this.#timer = 0;
			this.#plan();
		}
	}

	#plan(): void {
		// The oldest is the first: they are painted from the end.
		const waiting = this.#chunks.findLast(({ painted }) => !painted);
		if (this.#timer === 0 && waiting !== undefined && !this.#signal.aborted) {
			const wait = this.#read ? 0 : Math.max(0, waiting.made + LEFT_FOR - performance.now());
			this.#timer = window.setTimeout(() => this.#paintOne(), wait);
		}
	}

	#paintOne(): void {
		this.#timer = 0;
		const now = performance.now();
		this.#chunks.findLast(({ painted, made }) => !painted && (this.#read || now - made >= LEFT_FOR))?.paint();
		this.#plan();
	}

	#near(target: EventTarget | null): void {
		// What is above the end, which is followed, is near all the time, and all the time something else.
		if (this.#read) {
			this.#chunks.find(({ node }) => node === target)?.paint();
		}
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
				chunk.drop(gone);
				if (left > 0) {
					// Without a pen that fits, #repaintFrom paints it.
					first.text = first.text.slice(left);
					first.node?.replaceChildren();
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
		for (const { lines } of this.#chunks) {
			for (const line of lines) {
				if (line.node?.hasChildNodes() !== false && samePen(line.pen, pen)) {
					return;
				}
				line.pen = pen;
				line.after = line.node ? paintLine(line.node, line.text, pen, line.open) : penOf(line.text, pen);
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
			if (last.node === null) {
				last.after = penOf(last.text, last.pen);
			} else if (!extendLine(last.node, last.text, added)) {
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
		if (chunk === undefined || chunk.full) {
			chunk = new Chunk();
			this.#chunks.push(chunk);
			this.#root.append(chunk.node);
		}
		const after = penOf(text, pen);
		chunk.add({ node: null, text, pen, after, open });
		return after;
	}

	#clicked(target: EventTarget | null): void {
		if (target instanceof Element && target.classList.contains(MORE)) {
			const line = this.#chunks.flatMap(({ lines }) => lines).find(({ node }) => node?.contains(target));
			if (line?.node) {
				line.open = !line.open;
				paintLine(line.node, line.text, line.pen, line.open);
			}
		}
	}

	#takeLast(): Line | null {
		const chunk = this.#chunks.at(-1);
		const line = chunk?.takeLast();
		if (chunk === undefined || line === undefined) {
			return null;
		}
		if (chunk.lines.length === 0) {
			chunk.node.remove();
			this.#chunks.pop();
		}
		return line;
	}
}

function behindNewline(text: string, start: number): number {
	const newline = text.indexOf("\n", start);
	return newline === -1 ? text.length : newline + 1;
}
