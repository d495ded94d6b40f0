/** What a pen puts on the page: its two colours, settled so that the text can be read. */

import { BACKGROUND, contrast, FOREGROUND, indexed, mix, READABLE, type Rgb, rgbOf } from "./palette";
import type { Colour, Pen } from "./sgr";

export interface Ink {
	/** Null where the panel's own colour is right. */
	readonly colour: Rgb | null;
	readonly background: Rgb | null;
}

/** How far faint text goes towards its background: seen as weaker, still read. */
const FAINT_SHARE = 0.35;
/** A colour that cannot be read is lightened, or darkened, in steps of an eighth: the first that reads keeps its hue. */
const STEPS = 8;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

const GROUND = rgbOf(BACKGROUND);
const TEXT = rgbOf(FOREGROUND);

export function inkOf(pen: Pen): Ink {
	const named = { colour: toRgb(pen.foreground), background: toRgb(pen.background) };
	const background = pen.inverse ? (named.colour ?? TEXT) : named.background;
	const colour = pen.inverse ? (named.background ?? GROUND) : named.colour;
	const ground = background ?? GROUND;
	if (pen.conceal) {
		return { colour: ground, background };
	}
	if (colour === null && background === null && !pen.faint) {
		return { colour: null, background: null };
	}
	const wanted = colour ?? TEXT;
	return { colour: readable(pen.faint ? mix(wanted, ground, FAINT_SHARE) : wanted, ground), background };
}

/** The nearest colour on the way to white or black, whichever contrasts more, that reads on the background. */
export function readable(colour: Rgb, background: Rgb): Rgb {
	const goal = contrast(WHITE, background) >= contrast(BLACK, background) ? WHITE : BLACK;
	for (let step = 0; step < STEPS; step += 1) {
		const tried = mix(colour, goal, step / STEPS);
		if (contrast(tried, background) >= READABLE) {
			return tried;
		}
	}
	return goal;
}

function toRgb(colour: Colour | null): Rgb | null {
	return typeof colour === "number" ? indexed(colour) : colour;
}
