/**
 * The stretches of a view's text, each in one pen: twin of core/text.py, whose grammar it reads.
 *
 *     ESC [ digits ; digits m              colours
 *     ESC ] 8 ; ; address ESC \            a link begins; without an address it ends, at the latest with its line
 *
 * Nothing else that a text may hold means anything here: it stays text.
 */

import { applySgr, type Pen } from "./sgr";

export const ESC = "\u001b";
const SEQUENCE = new RegExp(`${ESC}\\[([0-9;:]*)m|${ESC}\\]8;;([^${ESC}]*)${ESC}\\\\`, "g");

/**
 * http or https, visible ASCII alone, no quotes or brackets that could end an attribute, no longer than what browsers
 * have always taken: the rule of core/text.py, held again here because a link is the one thing of the output that acts.
 */
const LINK = /^https?:\/\/[!#-;=?-[\]_a-z~%]{1,2000}$/i;

export interface Span {
	readonly text: string;
	readonly pen: Pen;
	/** The address that the stretch leads to, or "". */
	readonly link: string;
}

/** The stretches of one line that starts with `pen`, and the pen behind it. One pass over the line. */
export function spansOf(line: string, pen: Pen): { spans: Span[]; after: Pen } {
	const spans: Span[] = [];
	let after = pen;
	let link = "";
	let position = 0;
	if (line.includes(ESC)) {
		for (const match of line.matchAll(SEQUENCE)) {
			if (match.index > position) {
				spans.push({ text: line.slice(position, match.index), pen: after, link });
			}
			position = match.index + match[0].length;
			if (match[1] !== undefined) {
				after = applySgr(after, match[1]);
			} else {
				link = safeLink(match[2] ?? "");
			}
		}
	}
	if (position < line.length) {
		spans.push({ text: line.slice(position), pen: after, link });
	}
	return { spans, after };
}

/** The pen that a view's `leadSgr` stands for. */
export function penOf(leadSgr: string, before: Pen): Pen {
	return spansOf(leadSgr, before).after;
}

export function safeLink(address: string): string {
	return LINK.test(address) ? address : "";
}

/** The text without its escape sequences. */
export function plainText(text: string): string {
	return text.replace(SEQUENCE, "");
}
