/** A kernel and a clock for tests: what was asked is read, what is answered is said, time passes when it is told to. */

import type { Request } from "./answers";
import { Asking, type Route } from "./asking";

export class Played implements Route {
	readonly asked: Request[] = [];
	readonly asking: Asking;
	/** Thrown by the next `send`. */
	broken: Error | null = null;
	#timers: { at: number; action: () => void }[] = [];
	#now = 0;

	constructor(firstId = 100) {
		this.asking = new Asking(this, firstId);
	}

	send(request: Request): void {
		if (this.broken !== null) {
			throw this.broken;
		}
		this.asked.push(request);
	}

	later(delay: number, action: () => void): () => void {
		const timer = { at: this.#now + delay, action };
		this.#timers.push(timer);
		return () => {
			this.#timers = this.#timers.filter((other) => other !== timer);
		};
	}

	get timers(): number {
		return this.#timers.length;
	}

	pass(milliseconds: number): void {
		const end = this.#now + milliseconds;
		for (;;) {
			const due = this.#timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
			if (due === undefined) {
				break;
			}
			this.#now = due.at;
			this.#timers = this.#timers.filter((timer) => timer !== due);
			due.action();
		}
		this.#now = end;
	}

	/** The last request; a test that asks for one expects it. */
	get last(): Request {
		const last = this.asked.at(-1);
		if (last === undefined) {
			throw new Error("nothing was asked");
		}
		return last;
	}

	page(size: number, bytes: Uint8Array | null, id = this.last.id): void {
		const length = bytes?.length ?? 1;
		this.asking.take({ type: "page", id, size, length, base64: null }, bytes === null ? [] : [bytes]);
	}

	older(begins: number, text: string, id = this.last.id): void {
		const lines = text.split("\n").length - 1;
		this.asking.take({ type: "older", id, begins, lines, newlines: lines, text, leadSgr: "" }, []);
	}

	refuse(reason: string, retry = false, id = this.last.id): void {
		this.asking.take({ type: "refused", id, reason, retry }, []);
	}
}
