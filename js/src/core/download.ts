/** The whole of a spill, page by page, one request at a time: neither the kernel nor the page ever holds much of it. */

import type { Answer } from "./answers";
import type { Asking } from "./asking";
import type { StreamName } from "./wire";

/** Bytes: the most that the kernel gives out at once. */
export const PAGE = 1024 * 1024;

export type DownloadState =
	| { readonly kind: "idle" }
	/** `total` is what the file held when the kernel heard of the download, null before that. */
	| { readonly kind: "running"; readonly received: number; readonly total: number | null; readonly silent: boolean }
	| { readonly kind: "done"; readonly total: number }
	| { readonly kind: "failed"; readonly reason: string };

/** Where the bytes go. One that is neither saved nor dropped is never forgotten. */
export interface Keeper {
	keep(bytes: Uint8Array<ArrayBuffer>): void;
	save(): void;
	drop(): void;
}

export class Download {
	state: DownloadState = { kind: "idle" };
	readonly #asking: Asking;
	readonly #stream: StreamName;
	readonly #listeners = new Set<() => void>();
	#keeper: Keeper | null = null;
	#stopWaiting = () => {};
	/** Once a host has lost a buffer, it will lose the next. */
	#base64 = false;

	constructor(asking: Asking, stream: StreamName) {
		this.#asking = asking;
		this.#stream = stream;
	}

	/** Calls `listener` after every change of state; returns the way to end that. */
	subscribe(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Begins, unless it runs. What is written after that is not waited for. */
	start(keeper: Keeper): void {
		if (this.state.kind !== "running") {
			this.#keeper = keeper;
			this.#become({ kind: "running", received: 0, total: null, silent: false });
			this.#ask(0, null);
		}
	}

	cancel(): void {
		if (this.state.kind === "running") {
			this.#stopWaiting();
			this.#finish({ kind: "idle" });
		}
	}

	#ask(received: number, total: number | null): void {
		const request = {
			type: "page" as const,
			stream: this.#stream,
			offset: received,
			length: total === null ? PAGE : Math.min(PAGE, total - received),
			base64: this.#base64,
		};
		this.#stopWaiting = this.#asking.ask(request, {
			answered: (answer) => this.#answered(answer, received, total),
			silent: () => this.#become({ kind: "running", received, total, silent: true }),
		});
	}

	#answered(answer: Answer, before: number, known: number | null): void {
		if (answer.type !== "page") {
			this.#fail(answer.type === "refused" ? answer.reason : "the kernel answered something else");
			return;
		}
		if (answer.bytes === null) {
			if (this.#base64) {
				this.#fail("the bytes were lost on their way");
				return;
			}
			this.#base64 = true;
			this.#ask(before, known);
			return;
		}
		const total = known ?? answer.size;
		const bytes = answer.bytes.length > total - before ? answer.bytes.slice(0, total - before) : answer.bytes;
		const received = before + bytes.length;
		if (bytes.length === 0 && received < total) {
			this.#fail(`the file ended ${total - received} bytes too early`);
			return;
		}
		this.#keeper?.keep(bytes);
		if (received === total) {
			this.#finish({ kind: "done", total });
			return;
		}
		this.#become({ kind: "running", received, total, silent: false });
		this.#ask(received, total);
	}

	#fail(reason: string): void {
		this.#finish({ kind: "failed", reason });
	}

	#finish(state: DownloadState): void {
		const keeper = this.#keeper;
		this.#keeper = null;
		if (state.kind === "done") {
			keeper?.save();
		} else {
			keeper?.drop();
		}
		this.#become(state);
	}

	#become(state: DownloadState): void {
		this.state = state;
		for (const listener of this.#listeners) {
			listener();
		}
	}
}
