/**
 * Reads values out of parsed JSON that nobody vouches for. Every reader returns what it was asked for or throws a
 * WireError that names the field and the value.
 */

export class WireError extends Error {
	override name = "WireError";
}

/** Characters of a wrong value that an error repeats: enough to recognise it, whatever its size. */
const SHOWN_VALUE = 60;

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, path: string): Fields {
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw new WireError(`${path} must be an object, not ${show(value)}`);
	}
	return value as Fields;
}

export function textAt(fields: Fields, name: string, path: string): string {
	const value = own(fields, name);
	if (typeof value !== "string") {
		throw new WireError(`${path}.${name} must be a text, not ${show(value)}`);
	}
	return value;
}

export function textOrNullAt(fields: Fields, name: string, path: string): string | null {
	return own(fields, name) === null ? null : textAt(fields, name, path);
}

export function flagAt(fields: Fields, name: string, path: string): boolean {
	const value = own(fields, name);
	if (typeof value !== "boolean") {
		throw new WireError(`${path}.${name} must be true or false, not ${show(value)}`);
	}
	return value;
}

/** A whole number from 0 on that a double holds exactly: 9 PB of output are within it. */
export function countAt(fields: Fields, name: string, path: string): number {
	const value = own(fields, name);
	if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
		throw new WireError(`${path}.${name} must be a count, not ${show(value)}`);
	}
	return value;
}

export function secondsAt(fields: Fields, name: string, path: string): number {
	const value = own(fields, name);
	if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
		throw new WireError(`${path}.${name} must be a number of seconds, not ${show(value)}`);
	}
	return value;
}

export function integerOrNullAt(fields: Fields, name: string, path: string): number | null {
	const value = own(fields, name);
	if (value !== null && !Number.isSafeInteger(value)) {
		throw new WireError(`${path}.${name} must be an integer or null, not ${show(value)}`);
	}
	return value as number | null;
}

export function oneOfAt<T extends string>(fields: Fields, name: string, path: string, allowed: readonly T[]): T {
	const value = own(fields, name);
	if (!allowed.includes(value as T)) {
		throw new WireError(`${path}.${name} must be one of ${allowed.join(", ")}, not ${show(value)}`);
	}
	return value as T;
}

/** The object's own field: "constructor" is not a field of an empty message. */
export function own(fields: Fields, name: string): unknown {
	return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

export function show(value: unknown): string {
	const text = typeof value === "object" ? (JSON.stringify(value) ?? "undefined") : String(value);
	return text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}…` : text;
}
