/**
 * The colours of the panel and of the static result, which Python makes: tests/golden/palette.json holds the same values
 * and is read by the tests of both. Each of the sixteen has a contrast of at least 4.5:1 on the background (WCAG 2.2,
 * 1.4.3), so black is a readable grey.
 */

export type Rgb = readonly [red: number, green: number, blue: number];

export const BACKGROUND = "#1b1f27";
export const FOREGROUND = "#d6dae2";

/** Black, red, green, yellow, blue, magenta, cyan, white, then the same, bright. */
export const ANSI = [
	"#868d99",
	"#f2777a",
	"#7fc98a",
	"#e0b25e",
	"#6fa8f0",
	"#d08ce0",
	"#5cc4cc",
	"#c8cdd6",
	"#9aa2b0",
	"#ff9a9c",
	"#a3e3a8",
	"#f5d083",
	"#9cc6ff",
	"#e6b3f2",
	"#8fe3e8",
	"#ffffff",
] as const;

/** Ratio of text to its background that WCAG 2.2 asks for at level AA. */
export const READABLE = 4.5;

/** Steps of the 6 × 6 × 6 cube of palette colours 16 to 231, as xterm has them. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

export function rgbOf(hex: string): Rgb {
	const value = Number.parseInt(hex.slice(1), 16);
	return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** The colour of palette index 0 to 255. */
export function indexed(index: number): Rgb {
	const named = ANSI[index];
	if (named !== undefined) {
		return rgbOf(named);
	}
	if (index >= 232) {
		const grey = 8 + 10 * (index - 232);
		return [grey, grey, grey];
	}
	const cell = index - 16;
	const step = (position: number) => CUBE[position % 6] ?? 0;
	return [step(Math.floor(cell / 36)), step(Math.floor(cell / 6)), step(cell)];
}

/** Contrast ratio of two colours, 1 to 21 (WCAG 2.2). */
export function contrast(one: Rgb, other: Rgb): number {
	const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
	return (light + 0.05) / (dark + 0.05);
}

/** The colour that lies `share` of the way from one to the other. */
export function mix(one: Rgb, other: Rgb, share: number): Rgb {
	const part = (from: number, to: number) => Math.round(from + (to - from) * share);
	return [part(one[0], other[0]), part(one[1], other[1]), part(one[2], other[2])];
}

function luminance([red, green, blue]: Rgb): number {
	return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(channel: number): number {
	const share = channel / 255;
	return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
