/**
 * Characters that turn the direction of what follows (Unicode Standard Annex 9, 2.1 to 2.6): in the output of a stranger
 * they can make a line read as what it is not. Twin of the rule in show/markup.py.
 */

const TURNS = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/;

/** The text in pieces: every second one is a single such character, those between may be empty. */
export function splitTurns(text: string): string[] {
	return text.split(TURNS);
}

export function hasTurns(text: string): boolean {
	return TURNS.test(text);
}
