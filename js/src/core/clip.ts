/** What of a line is shown at once. A line of megabytes would cost more layout than all others together. */

import type { Span } from "./spans";

/** UTF-16 code units: forty rows of a wide panel. */
export const LONGEST_LINE = 4096;

export interface Clipped {
	readonly spans: readonly Span[];
	/** Characters that are not shown; 0 for a line that is not clipped. */
	readonly hidden: number;
}

/** The beginning of a line, or with `end` its end, in `LONGEST_LINE` code units; no surrogate pair is split. */
export function clip(spans: readonly Span[], end: boolean): Clipped {
	const length = spans.reduce((sum, { text }) => sum + text.length, 0);
	if (length <= LONGEST_LINE) {
		return { spans, hidden: 0 };
	}
	let left = LONGEST_LINE;
	let hidden = 0;
	const kept: Span[] = [];
	for (const span of end ? [...spans].reverse() : spans) {
		const { text } = span;
		const at = whole(text, end ? Math.max(0, text.length - left) : Math.min(text.length, left), end);
		const [shown, rest] = end ? [text.slice(at), text.slice(0, at)] : [text.slice(0, at), text.slice(at)];
		hidden += characters(rest);
		left = rest === "" ? left - text.length : 0;
		if (shown !== "") {
			kept.push({ ...span, text: shown });
		}
	}
	return { spans: end ? kept.reverse() : kept, hidden };
}

/** `at`, or the place beside it where that would split a pair: rather less is shown than more. */
function whole(text: string, at: number, end: boolean): number {
	return isLow(text.charCodeAt(at)) && at > 0 ? at + (end ? 1 : -1) : at;
}

function characters(text: string): number {
	let pairs = 0;
	for (let at = 0; at < text.length; at += 1) {
		pairs += isLow(text.charCodeAt(at)) ? 1 : 0;
	}
	return text.length - pairs;
}

function isLow(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
