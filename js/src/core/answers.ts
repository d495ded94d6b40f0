/** What a panel asks of its run, and the parser of what it is told. Twin of show/pager.py. */

import { countAt, fieldsOf, flagAt, own, show, textAt, WireError } from "./json";
import type { StreamName } from "./wire";

export type Request =
	| {
			readonly type: "page";
			readonly id: number;
			readonly stream: StreamName;
			readonly offset: number;
			readonly length: number;
			/** The bytes as text: for hosts that lose buffers on the way. */
			readonly base64: boolean;
	  }
	| { readonly type: "older"; readonly id: number; readonly stream: StreamName; readonly before: number }
	| { readonly type: "result"; readonly id: number };

/** `size` counts the bytes of the whole that were there; `bytes` is null where the host lost them. */
export interface PageAnswer {
	readonly type: "page";
	readonly id: number;
	readonly size: number;
	readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** Text in the grammar of a view; `newlines` are those of the bytes from `begins` on that it stands for. */
export interface OlderAnswer {
	readonly type: "older";
	readonly id: number;
	readonly begins: number;
	readonly lines: number;
	readonly newlines: number;
	readonly text: string;
	readonly leadSgr: string;
}

/** What stays in the notebook, by mime type, in the place of the panel of `model`. */
export interface ResultAnswer {
	readonly type: "result";
	readonly id: number;
	readonly model: string;
	readonly bundle: Readonly<Record<"text/plain" | "text/html", string>>;
}

export interface Refusal {
	readonly type: "refused";
	readonly id: number;
	readonly reason: string;
	/** The same may be asked again, a little later. */
	readonly retry: boolean;
}

export type Answer = PageAnswer | OlderAnswer | ResultAnswer | Refusal;

/** The answer in a message of the kernel; null for a message of another kind. Throws a WireError for a malformed one. */
export function parseAnswer(value: unknown, buffers: unknown): Answer | null {
	const answer = fieldsOf(value, "message");
	const type = textAt(answer, "type", "message");
	switch (type) {
		case "page": {
			const length = countAt(answer, "length", "message");
			const base64 = own(answer, "base64");
			const bytes = typeof base64 === "string" ? bytesOfBase64(base64) : bytesOfBuffers(buffers);
			if (bytes !== null && bytes.length !== length) {
				throw new WireError(`message.length must be that of its bytes, ${bytes.length}, not ${length}`);
			}
			return {
				type,
				id: countAt(answer, "id", "message"),
				size: countAt(answer, "size", "message"),
				bytes: length === 0 ? new Uint8Array() : bytes,
			};
		}
		case "older":
			return {
				type,
				id: countAt(answer, "id", "message"),
				begins: countAt(answer, "begins", "message"),
				lines: countAt(answer, "lines", "message"),
				newlines: countAt(answer, "newlines", "message"),
				text: textAt(answer, "text", "message"),
				leadSgr: textAt(answer, "leadSgr", "message"),
			};
		case "result": {
			const bundle = fieldsOf(own(answer, "bundle"), "message.bundle");
			return {
				type,
				id: countAt(answer, "id", "message"),
				model: textAt(answer, "model", "message"),
				bundle: {
					"text/plain": textAt(bundle, "text/plain", "message.bundle"),
					"text/html": textAt(bundle, "text/html", "message.bundle"),
				},
			};
		}
		case "refused":
			return {
				type,
				id: countAt(answer, "id", "message"),
				reason: textAt(answer, "reason", "message"),
				retry: flagAt(answer, "retry", "message"),
			};
		default:
			return null;
	}
}

function bytesOfBuffers(buffers: unknown): Uint8Array<ArrayBuffer> | null {
	const first: unknown = Array.isArray(buffers) ? buffers[0] : undefined;
	if (first instanceof ArrayBuffer) {
		return new Uint8Array(first);
	}
	if (ArrayBuffer.isView(first)) {
		return new Uint8Array(first.buffer as ArrayBuffer, first.byteOffset, first.byteLength);
	}
	return null;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]));

/** RFC 4648 §4, with its padding; by hand, since `atob` is the page's and its newer kin too new. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
	const digits = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
	const bytes = new Uint8Array(Math.floor((digits * 3) / 4));
	let bits = 0;
	let held = 0;
	let at = 0;
	for (let index = 0; index < digits; index += 1) {
		const value = VALUES.get(text.charCodeAt(index));
		if (value === undefined || text.length % 4 !== 0) {
			throw new WireError(`message.base64 must be base64, not ${show(text)}`);
		}
		bits = ((bits << 6) | value) & 0xfff;
		held += 6;
		if (held >= 8) {
			held -= 8;
			bytes[at] = bits >> held;
			at += 1;
		}
	}
	return bytes;
}
