/** The bytes of a download on their way to a file. */

import type { Keeper } from "../core/download";
import { element } from "./element";

/** Milliseconds. The browser reads the file after the click, when it may; nothing tells when it has begun. */
const KEPT_AFTER_SAVING = 40_000;

/** Pages from one prompt to collect to the next. */
const PROMPT_EVERY = 3;
/** Bytes: more than the buffers that V8 lets pile up before it collects, whatever the size of the heap. */
const PROMPT = 160 * 1024 * 1024;

/** Each page becomes a Blob at once: the browser keeps those outside of the page, and on the disk when they are many. */
export class BlobKeeper implements Keeper {
	readonly #name: string;
	#parts: Blob[] = [];

	constructor(name: string) {
		this.#name = name;
	}

	keep(bytes: Uint8Array<ArrayBuffer>): void {
		this.#parts.push(new Blob([bytes]));
		if (this.#parts.length % PROMPT_EVERY === 0) {
			// When the next page has been asked for: while it is on its way there is nothing else to do.
			window.setTimeout(promptCollection);
		}
	}

	save(): void {
		const address = URL.createObjectURL(new Blob(this.#parts, { type: "application/octet-stream" }));
		this.#parts = [];
		const link = element("a", "", { href: address, download: this.#name });
		link.hidden = true;
		document.body.append(link);
		link.click();
		link.remove();
		window.setTimeout(() => URL.revokeObjectURL(address), KEPT_AFTER_SAVING);
	}

	drop(): void {
		this.#parts = [];
	}
}

/**
 * Has Chromium collect the messages that brought the pages. What arrives on a WebSocket is garbage at once, twice the
 * bytes of each page; left alone, V8 lets 60 to 90 MB of it pile up, and no page can free it by hand, since the host holds
 * the one half. It counts bytes that are asked for, and these are never touched, so that they take no memory.
 */
function promptCollection(): void {
	// Chromium alone has this. Other browsers have other rules, and may write zeros into all of a new buffer.
	if (!("memory" in performance)) {
		return;
	}
	try {
		void new ArrayBuffer(PROMPT);
	} catch {
		// No room for it: then the browser has its own reasons to collect.
	}
}

/** A name for the copy of a file: its last three parts say which session and run it is of. */
export function downloadName(path: string): string {
	const parts = path.split("/").filter((part) => part !== "" && part !== "~");
	const name = parts
		.slice(-3)
		.join("-")
		.replace(/[^\w.-]+/g, "_");
	return name === "" ? "output.log" : name;
}
