/** The bytes of a download on their way to a file. */

import type { Keeper } from "../core/download";
import { element } from "./element";

/** Milliseconds. The browser reads the file after the click, when it may; nothing tells when it has begun. */
const KEPT_AFTER_SAVING = 40_000;

/** Each page becomes a Blob at once: the browser keeps those outside of the page, and on the disk when they are many. */
export class BlobKeeper implements Keeper {
	readonly #name: string;
	#parts: Blob[] = [];

	constructor(name: string) {
		this.#name = name;
	}

	keep(bytes: Uint8Array<ArrayBuffer>): void {
		this.#parts.push(new Blob([bytes]));
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

/** A name for the copy of a file: its last three parts say which session and run it is of. */
export function downloadName(path: string): string {
	const parts = path.split("/").filter((part) => part !== "" && part !== "~");
	const name = parts
		.slice(-3)
		.join("-")
		.replace(/[^\w.-]+/g, "_");
	return name === "" ? "output.log" : name;
}
