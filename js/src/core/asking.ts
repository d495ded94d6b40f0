/**
 * Requests and their answers. A message may be lost on the way, a kernel may be busy for an hour, or gone: a request is
 * asked again, in ever longer intervals, until it is answered or nobody wants to know any more. It reads no clock and has
 * no timer: `Route` brings both.
 *
 * | happens                          | then                                                       |
 * |----------------------------------|------------------------------------------------------------|
 * | its answer                       | told, once; a second one is ignored                        |
 * | "come again"                     | asked again after `RETRY_AFTER`                            |
 * | silence                          | asked again after `SILENCE`, twice that, and so on         |
 * | the kernel is gone               | told as a refusal; so is whatever is asked from then on    |
 * | any answer of a kernel after all | it is back                                                 |
 */

import { type Answer, parseAnswer, type Request } from "./answers";

/** Milliseconds. The kernel lets through one request every 16. */
export const RETRY_AFTER = 100;
/** Milliseconds. Long for a message that is lost, short for a person who waits. */
export const SILENCE = 5000;

export const KERNEL_GONE = "the kernel that ran this is gone";

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;

export interface Route {
	/** Sends a request to the kernel's side of the widget. May throw where there is none any more. */
	send(request: Request): void;
	/** Calls `action` after so many milliseconds; returns the way to call that off. */
	later(delay: number, action: () => void): () => void;
}

/** Who asked. `silent` is told when the first interval passes without an answer. */
export interface Listener {
	answered(answer: Answer): void;
	silent(): void;
}

interface Open {
	readonly request: Request;
	readonly listener: Listener;
	callOff: () => void;
	interval: number;
}

export class Asking {
	lost = false;
	readonly #route: Route;
	readonly #open = new Map<number, Open>();
	readonly #lostListeners = new Set<() => void>();
	#next: number;

	/** `firstId`: any; of several pages that show one run each gets all answers, and must know its own. */
	constructor(route: Route, firstId: number) {
		this.#route = route;
		this.#next = firstId;
	}

	/** Asks until there is an answer; returns the way to stop waiting for it. */
	ask(body: WithoutId<Request>, listener: Listener): () => void {
		const id = this.#next;
		this.#next += 1;
		const open = { request: { ...body, id } as Request, listener, callOff: () => {}, interval: SILENCE };
		this.#open.set(id, open);
		this.#send(open);
		return () => this.#close(id);
	}

	/** Takes a message; false for one that is no answer. Throws a WireError for a malformed one. */
	take(content: unknown, buffers: unknown): boolean {
		const answer = parseAnswer(content, buffers);
		if (answer === null) {
			return false;
		}
		const open = this.#open.get(answer.id);
		if (open === undefined) {
			return true;
		}
		this.#setLost(false);
		if (answer.type === "refused" && answer.retry) {
			open.callOff();
			open.callOff = this.#route.later(RETRY_AFTER, () => this.#send(open));
			return true;
		}
		this.#close(answer.id);
		open.listener.answered(answer);
		return true;
	}

	/** The kernel's side is gone: nobody will answer. */
	lose(): void {
		this.#setLost(true);
		for (const id of [...this.#open.keys()]) {
			this.#refuse(id);
		}
	}

	/** Calls `listener` when the kernel is lost or back; returns the way to end that. */
	subscribe(listener: () => void): () => void {
		this.#lostListeners.add(listener);
		return () => this.#lostListeners.delete(listener);
	}

	/** Nobody wants to know any more. */
	end(): void {
		for (const id of [...this.#open.keys()]) {
			this.#close(id);
		}
	}

	#send(open: Open): void {
		open.callOff = this.#route.later(open.interval, () => {
			if (open.interval === SILENCE) {
				open.listener.silent();
			}
			open.interval *= 2;
			if (this.#open.has(open.request.id)) {
				this.#send(open);
			}
		});
		try {
			this.#route.send(open.request);
		} catch {
			// A host that cannot send has no kernel to send to.
			this.lose();
		}
	}

	#refuse(id: number): void {
		const open = this.#open.get(id);
		this.#close(id);
		open?.listener.answered({ type: "refused", id, reason: KERNEL_GONE, retry: false });
	}

	#close(id: number): void {
		this.#open.get(id)?.callOff();
		this.#open.delete(id);
	}

	#setLost(lost: boolean): void {
		if (this.lost !== lost) {
			this.lost = lost;
			for (const listener of this.#lostListeners) {
				listener();
			}
		}
	}
}
