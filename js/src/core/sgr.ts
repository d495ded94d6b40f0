/**
 * Colours and attributes: SGR sequences (ECMA-48 §8.3.117, ISO 8613-6 colours) read as what the terminal's pen would be.
 * Twin of `apply_sgr` in core/sgr.py, which writes what is read here.
 */

/** A palette index from 0 to 255, or red, green and blue from 0 to 255 each. */
export type Colour = number | readonly [red: number, green: number, blue: number];

export interface Pen {
	readonly bold: boolean;
	readonly faint: boolean;
	readonly italic: boolean;
	readonly underline: boolean;
	readonly inverse: boolean;
	readonly conceal: boolean;
	readonly strike: boolean;
	readonly foreground: Colour | null;
	readonly background: Colour | null;
}

export const PLAIN: Pen = {
	bold: false,
	faint: false,
	italic: false,
	underline: false,
	inverse: false,
	conceal: false,
	strike: false,
	foreground: null,
	background: null,
};

const SIMPLE: Readonly<Record<number, Partial<Pen>>> = {
	1: { bold: true },
	2: { faint: true },
	3: { italic: true },
	4: { underline: true },
	7: { inverse: true },
	8: { conceal: true },
	9: { strike: true },
	21: { underline: true },
	22: { bold: false, faint: false },
	23: { italic: false },
	24: { underline: false },
	27: { inverse: false },
	28: { conceal: false },
	29: { strike: false },
	39: { foreground: null },
	49: { background: null },
};

/** Pens that were made before. A program uses a handful; one that paints a rainbow would fill the memory. */
const MAX_KNOWN = 1024;
const known = new Map<string, Map<Pen, Pen>>();
let knownCount = 0;

/** The pen after `ESC [ parameters m`: the same object for the same two. What is unknown in it is passed over. */
export function applySgr(pen: Pen, parameters: string): Pen {
	const found = known.get(parameters)?.get(pen);
	if (found !== undefined) {
		return found;
	}
	if (knownCount >= MAX_KNOWN) {
		known.clear();
		knownCount = 0;
	}
	const after = readSgr(pen, parameters);
	known.set(parameters, (known.get(parameters) ?? new Map()).set(pen, after));
	knownCount += 1;
	return after;
}

function readSgr(pen: Pen, parameters: string): Pen {
	let after = pen;
	const fields = parameters.split(";");
	for (let at = 0; at < fields.length; at += 1) {
		const [code = 0, ...subs] = (fields[at] ?? "").split(":").map(Number);
		if (code === 38 || code === 48 || code === 58) {
			const values = subs.length > 0 ? subs : fields.slice(at + 1, at + 5).map(firstNumber);
			const colour = extendedColour(values, subs.length > 0);
			if (subs.length === 0) {
				// `5;n` or `2;r;g;b`; an unknown kind takes its own field alone.
				at += values[0] === 5 ? 2 : values[0] === 2 ? 4 : 1;
			}
			if (colour !== null && code !== 58) {
				after = { ...after, [code === 38 ? "foreground" : "background"]: colour };
			}
		} else if (code === 4 && subs.length > 0) {
			after = { ...after, underline: subs[0] !== 0 };
		} else {
			after = code === 0 ? PLAIN : { ...after, ...(SIMPLE[code] ?? paletteColour(code)) };
		}
	}
	return after;
}

export function samePen(one: Pen, other: Pen): boolean {
	return one === other || penKey(one) === penKey(other);
}

/** A text that two pens share exactly when they draw alike. */
export function penKey(pen: Pen): string {
	const flags =
		(pen.bold ? 1 : 0) |
		(pen.faint ? 2 : 0) |
		(pen.italic ? 4 : 0) |
		(pen.underline ? 8 : 0) |
		(pen.inverse ? 16 : 0) |
		(pen.conceal ? 32 : 0) |
		(pen.strike ? 64 : 0);
	return `${flags}|${pen.foreground}|${pen.background}`;
}

/** The number before any colon; an empty field is 0, as ECMA-48 has it. */
function firstNumber(field: string): number {
	return Number(field.split(":", 1)[0]);
}

function paletteColour(code: number): Partial<Pen> {
	if (code >= 30 && code <= 37) {
		return { foreground: code - 30 };
	}
	if (code >= 40 && code <= 47) {
		return { background: code - 40 };
	}
	if (code >= 90 && code <= 97) {
		return { foreground: code - 82 };
	}
	if (code >= 100 && code <= 107) {
		return { background: code - 92 };
	}
	return {};
}

/** ISO 8613-6 puts a colour space between `2` and red in the form with colons. */
function extendedColour(values: readonly number[], colons: boolean): Colour | null {
	const [kind, ...rest] = values;
	const [first, second, third] = kind === 2 && colons && rest.length >= 4 ? rest.slice(1) : rest;
	if (![first, second, third].every((value) => value === undefined || (value >= 0 && value <= 255))) {
		return null;
	}
	if (kind === 5 && first !== undefined) {
		return first;
	}
	if (kind === 2 && first !== undefined && second !== undefined && third !== undefined) {
		return [first, second, third];
	}
	return null;
}
