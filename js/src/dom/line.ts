/** One line of output as nodes: text in spans, links in anchors, nothing else. */

import { inkOf } from "../core/ink";
import type { Rgb } from "../core/palette";
import { type Pen, penKey } from "../core/sgr";
import { type Span, spansOf } from "../core/spans";
import { element } from "./element";

/**
 * Styles kept ready. Programs use a handful of pens; one that paints a rainbow in RGB would fill the memory, so beyond
 * this the store starts again.
 */
const MAX_STYLES = 1024;
const styles = new Map<string, string>();

/** Fills `node` with the line, newline included; returns the pen behind it. */
export function paintLine(node: HTMLElement, line: string, pen: Pen): Pen {
	const { spans, after } = spansOf(line, pen);
	node.replaceChildren(...spans.map(spanNode));
	return after;
}

function spanNode({ text, pen, link }: Span): Node {
	const style = styleOf(pen);
	if (link === "" && style === "") {
		return document.createTextNode(text);
	}
	const node =
		link === ""
			? document.createElement("span")
			: element("a", "boundcap-link", { href: link, target: "_blank", rel: "noopener noreferrer", title: link });
	node.textContent = text;
	if (style !== "") {
		node.style.cssText = style;
	}
	return node;
}

function styleOf(pen: Pen): string {
	const key = penKey(pen);
	let style = styles.get(key);
	if (style === undefined) {
		if (styles.size >= MAX_STYLES) {
			styles.clear();
		}
		style = composeStyle(pen);
		styles.set(key, style);
	}
	return style;
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
