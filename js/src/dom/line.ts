/** One line of output as nodes: text in spans, links in anchors, and one button for a long line; nothing else. */

import { hasTurns, splitTurns } from "../core/bidi";
import { clip, LONGEST_LINE } from "../core/clip";
import { formatCount } from "../core/format";
import { inkOf } from "../core/ink";
import type { Rgb } from "../core/palette";
import { type Pen, penKey } from "../core/sgr";
import { ESC, type Span, spansOf } from "../core/spans";
import { element, setText } from "./element";

/** The class of the button that shows all of a long line. */
export const MORE = "boundcap-more";

/**
 * Styles kept ready. Programs use a handful of pens; one that paints a rainbow in RGB would fill the memory, so beyond
 * this the store starts again.
 */
const MAX_STYLES = 1024;
/** A span in each style, null for the one that needs none. A copy of it shares its style, which is not read again. */
const styled = new Map<string, HTMLElement | null>();

/** Fills `node` with the line, newline included; returns the pen behind it. A long line is clipped, unless it is `open`. */
export function paintLine(node: HTMLElement, line: string, pen: Pen, open: boolean): Pen {
	const { spans, after } = spansOf(line, pen);
	if (line.length <= LONGEST_LINE) {
		node.replaceChildren(...spans.map(spanNode));
		return after;
	}
	const growing = !line.endsWith("\n");
	const content = growing ? spans : spansOf(line.slice(0, -1), pen).spans;
	// What is still being printed is read at its end.
	const { spans: kept, hidden } = clip(content, growing);
	if (hidden === 0) {
		node.replaceChildren(...spans.map(spanNode));
		return after;
	}
	const button = moreButton(node, hidden, open);
	const nodes = (open ? content : kept).map(spanNode);
	surround(button, node, growing ? [] : nodes, growing ? nodes : ["\n"]);
	return after;
}

/**
 * Adds text to the end of a line that has it in its text already. False, and nothing is done, where the line must be
 * painted anew. What is only added to leaves a selection as it is.
 */
export function extendLine(node: HTMLElement, line: string, added: string): boolean {
	if (line.length > LONGEST_LINE || line.includes(ESC) || hasTurns(added)) {
		return false;
	}
	// Without a sequence in it, all of the line is in one pen, and in one node.
	const last = node.lastChild;
	const text = last instanceof Text ? last : last?.lastChild;
	if (!(text instanceof Text)) {
		return false;
	}
	text.appendData(added);
	return true;
}

/** The button of the line, the same as before if there was one: a press on it may be under way. */
function moreButton(node: HTMLElement, hidden: number, open: boolean): HTMLElement {
	const button = node.querySelector<HTMLElement>(`.${MORE}`) ?? element("button", MORE, { type: "button" });
	button.setAttribute("aria-expanded", String(open));
	button.title = open ? "show less of this line" : "show all of this line";
	setText(button, open ? "less" : `+${formatCount(hidden)}`);
	return button;
}

/** Makes `before`, the button and `after` the content of `node`, without taking a button out that is there. */
function surround(button: HTMLElement, node: HTMLElement, before: (Node | string)[], after: (Node | string)[]): void {
	if (button.parentNode !== node) {
		node.replaceChildren(button);
	}
	for (const child of [...node.childNodes]) {
		if (child !== button) {
			child.remove();
		}
	}
	button.before(...before);
	button.after(...after);
}

function spanNode({ text, pen, link }: Span): Node {
	const model = styledSpan(pen);
	const turns = hasTurns(text);
	if (link === "" && model === null && !turns) {
		return document.createTextNode(text);
	}
	const node =
		link === ""
			? ((model?.cloneNode() as HTMLElement | undefined) ?? document.createElement("span"))
			: element("a", "boundcap-link", { href: link, target: "_blank", rel: "noopener noreferrer", title: link });
	if (turns) {
		// Alone in an isolate, such a character turns nothing, and is copied all the same.
		node.append(...splitTurns(text).map((piece, index) => (index % 2 === 1 ? element("bdi", "", {}, piece) : piece)));
	} else {
		node.textContent = text;
	}
	if (link !== "" && model !== null) {
		node.style.cssText = model.style.cssText;
	}
	return node;
}

function styledSpan(pen: Pen): HTMLElement | null {
	const key = penKey(pen);
	let span = styled.get(key);
	if (span === undefined) {
		if (styled.size >= MAX_STYLES) {
			styled.clear();
		}
		span = null;
		const style = composeStyle(pen);
		if (style !== "") {
			span = document.createElement("span");
			span.style.cssText = style;
		}
		styled.set(key, span);
	}
	return span;
}

function composeStyle(pen: Pen): string {
	const { colour, background } = inkOf(pen);
	const decorations = [pen.underline ? "underline" : "", pen.strike ? "line-through" : ""].filter(Boolean);
	return [
		colour && `color:${css(colour)}`,
		background && `background-color:${css(background)}`,
		pen.bold && "font-weight:bold",
		pen.italic && "font-style:italic",
		decorations.length > 0 && `text-decoration:${decorations.join(" ")}`,
	]
		.filter(Boolean)
		.join(";");
}

function css(colour: Rgb): string {
	return `rgb(${colour.join(",")})`;
}
