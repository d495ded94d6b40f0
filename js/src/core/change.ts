/**
 * A change of a text at its ends: `drop` code units leave at the front, `cut` at the end, then `text` is added.
 *
 * Panels draw changes, not texts: several that arrive between two frames become one by `compose`, and a complete text
 * that replaces another becomes one by `align`, so that the lines which stay keep their nodes, their place on the page
 * and the reader's selection.
 */

export interface TextChange {
	readonly drop: number;
	readonly cut: number;
	readonly text: string;
}

export const NO_CHANGE: TextChange = { drop: 0, cut: 0, text: "" };

/**
 * The text after the change.
 *
 * Throws a RangeError when the change reaches beyond the text, or when half a surrogate pair would remain of it.
 */
export function changed(text: string, { drop, cut, text: added }: TextChange): string {
	if (drop + cut > text.length) {
		throw new RangeError(`drop=${drop} and cut=${cut} reach beyond a text of ${text.length} UTF-16 code units`);
	}
	const kept = text.slice(drop, text.length - cut);
	if (isLow(kept.charCodeAt(0)) || isHigh(kept.charCodeAt(kept.length - 1))) {
		throw new RangeError(`drop=${drop} or cut=${cut} splits a surrogate pair`);
	}
	return kept + added;
}

/** Whether the change adds at least `lines` lines. Looks no further. */
export function addsLines({ text }: TextChange, lines: number): boolean {
	let at = 0;
	for (let left = lines; left > 0; left -= 1) {
		at = text.indexOf("\n", at) + 1;
		if (at === 0) {
			return false;
		}
	}
	return true;
}

/** One change for two in a row, the first of them made to a text of `length` code units. */
export function compose(length: number, first: TextChange, second: TextChange): TextChange {
	if (second === NO_CHANGE) {
		return first;
	}
	const kept = length - first.drop - first.cut;
	const cutOfAdded = Math.min(second.cut, first.text.length);
	const cutOfKept = second.cut - cutOfAdded;
	const dropOfKept = Math.min(second.drop, kept - cutOfKept);
	const dropOfAdded = second.drop - dropOfKept;
	return {
		drop: first.drop + dropOfKept,
		cut: first.cut + cutOfKept,
		text: first.text.slice(dropOfAdded, first.text.length - cutOfAdded) + second.text,
	};
}

/**
 * The change that leads from one complete text to another, when `gone` lines are known to have left at the front. Lines
 * are compared, never searched for: a wrong `gone` only makes the change larger. Costs one pass over both texts.
 */
export function align(before: string, after: string, gone: number): TextChange {
	if (after.startsWith(before)) {
		return { drop: 0, cut: 0, text: after.slice(before.length) };
	}
	const start = startOfLine(before, gone);
	const firstBefore = before.slice(start, endOfLine(before, start));
	const firstAfter = after.slice(0, endOfLine(after, 0));
	// The first line of a view may be the end of a line of which more was shown before.
	const drop = start + (firstBefore.endsWith(firstAfter) ? firstBefore.length - firstAfter.length : 0);
	const same = sameLines(before, drop, after);
	if (same === 0) {
		return { drop: before.length, cut: 0, text: after };
	}
	return { drop, cut: before.length - drop - same, text: after.slice(same) };
}

/** Length of the lines that `after` has in common with `before` from `offset` on; an unfinished line may have grown. */
function sameLines(before: string, offset: number, after: string): number {
	const rest = before.length - offset;
	if (rest <= after.length && after.startsWith(before.slice(offset))) {
		return rest;
	}
	let same = 0;
	while (same < rest && same < after.length) {
		const end = endOfLine(after, same);
		if (before.slice(offset + same, offset + end) !== after.slice(same, end)) {
			break;
		}
		same = end;
	}
	return same;
}

function startOfLine(text: string, line: number): number {
	let start = 0;
	for (let left = line; left > 0 && start < text.length; left -= 1) {
		start = endOfLine(text, start);
	}
	return start;
}

/** Behind the newline that ends the line at `start`, or the end of the text. */
function endOfLine(text: string, start: number): number {
	const newline = text.indexOf("\n", start);
	return newline === -1 ? text.length : newline + 1;
}

function isHigh(unit: number): boolean {
	return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
	return unit >= 0xdc00 && unit <= 0xdfff;
}
