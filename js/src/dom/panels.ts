/** The panels of a run: in the views of its widget while it runs, and then in the place of its static results. */

import { element } from "./element";
import { report } from "./model";
import { placeIn } from "./place";
import type { Results } from "./results";

/** JupyterLab's list of the outputs of a cell: what takes the place of a panel appears in the same one. */
const OUTPUTS = ".jp-OutputArea";

/** What stands behind a result and holds the panel (panel.css). */
const HOST = "boundcap-host";

/** Milliseconds that a panel which has left the page after the end waits for the result that takes its place. */
const RESULT_AFTER = 2000;

/**
 * Milliseconds. A panel that is out of the page, as that of a cell far out of sight may be, looks this often whether its
 * output is still in the notebook.
 */
const LOOK_EVERY = 30_000;

/** How far from what is in sight a result is near: a turn of the page. */
const NEAR = "100%";

interface Shown {
	readonly panel: HTMLElement;
	readonly life: AbortController;
	/**
	 * The outputs of the cell in which the panel is a view; null before it came into the page, where there are none, and
	 * when it stands in a result.
	 */
	outputs: Element | null;
	/** Aborted when nothing is expected to take the place of the view any more. */
	readonly waiting: AbortController;
	/** Takes the reader back to where he was when the panel left the page. */
	restore: () => void;
}

export class Panels {
	readonly #make: (el: HTMLElement, signal: AbortSignal) => HTMLElement;
	readonly #results: Results;
	readonly #signal: AbortSignal;
	/** In views of the widget, or out of the page on the way to a result. */
	readonly #views = new Set<Shown>();
	/** Beside the root of the result that each hides. */
	readonly #hosts = new Map<Element, Shown>();
	/** Tells when a result comes near: a page that opens a long notebook makes the panels that are looked at. */
	readonly #near = new IntersectionObserver(
		(entries) => {
			for (const { target, isIntersecting } of entries) {
				if (isIntersecting) {
					this.#near.unobserve(target);
					this.#put(target, (host) => this.#show(host));
				}
			}
		},
		// The second counts in a part of the page that is scrolled for itself, as JupyterLab's notebook; where a browser does
		// not know it, the panel comes when the result is seen.
		{ rootMargin: NEAR, scrollMargin: NEAR } as IntersectionObserverInit,
	);
	readonly #failed = new WeakSet<Element>();
	readonly #changes = new MutationObserver((records) => {
		for (const { target, addedNodes } of records) {
			if (target instanceof Element && target.matches(OUTPUTS)) {
				for (const node of addedNodes) {
					this.#changes.observe(node, { childList: true, subtree: true });
				}
			}
		}
		this.#look();
	});
	/** Tells when a host leaves the page, for it has no size then, and when the panel of a view comes into the page. */
	readonly #sizes = new ResizeObserver((entries) => {
		for (const { target } of entries) {
			this.#lookAfter(target);
			this.#lookRound(target);
		}
	});
	#over = false;
	#settled = false;

	/** `make` puts a panel into an element until its signal, and returns its node. All end with `signal`. */
	constructor(results: Results, make: (el: HTMLElement, signal: AbortSignal) => HTMLElement, signal: AbortSignal) {
		this.#results = results;
		this.#make = make;
		this.#signal = signal;
		signal.addEventListener(
			"abort",
			() => {
				this.#changes.disconnect();
				this.#sizes.disconnect();
				this.#near.disconnect();
				for (const host of this.#hosts.keys()) {
					host.remove();
				}
				for (const shown of [...this.#views, ...this.#hosts.values()]) {
					shown.life.abort();
				}
				this.#hosts.clear();
				this.#views.clear();
			},
			{ once: true },
		);
	}

	/** Puts a panel into a view, which ends with `signal`. */
	mount(el: HTMLElement, signal: AbortSignal): void {
		const shown = this.#show(el);
		this.#views.add(shown);
		signal.addEventListener("abort", () => this.#left(shown), { once: true });
		// A host may put the view into the page when it is complete.
		this.#sizes.observe(shown.panel);
	}

	#lookRound(panel: Element): void {
		const shown = [...this.#views].find((view) => view.panel === panel);
		if (shown !== undefined && panel.isConnected) {
			this.#sizes.unobserve(panel);
			shown.outputs = panel.closest(OUTPUTS);
			if (this.#over) {
				this.#await(shown);
			}
		}
	}

	/** The run is over: from now on its results may appear, or are there. */
	over(): void {
		if (this.#over || this.#signal.aborted) {
			return;
		}
		this.#over = true;
		for (const shown of this.#views) {
			// It may be in the page since the last frame.
			shown.outputs ??= shown.panel.closest(OUTPUTS);
			this.#await(shown);
		}
		this.#results.watch((root) => this.#take(root), this.#signal);
		this.#look();
	}

	/** What was to take the place of a view has been put there; a little later, nothing is expected any more. */
	settled(): void {
		window.setTimeout(() => {
			this.#settled = true;
			this.#changes.disconnect();
			for (const { waiting } of this.#views) {
				waiting.abort();
			}
		}, RESULT_AFTER);
	}

	/**
	 * Waits for the result that takes the place of a view. An observer is told before the next frame is painted. It looks
	 * at the list of outputs and within those that are new, which may get their content later: what changes in others,
	 * such as panels, costs nothing.
	 */
	#await(shown: Shown): void {
		if (shown.outputs === null || this.#settled || shown.waiting.signal.aborted) {
			return;
		}
		this.#changes.observe(shown.outputs, { childList: true });
		const look = () => {
			if (shown.outputs !== null && shown.panel.isConnected) {
				shown.restore = placeIn(shown.panel);
			}
		};
		look();
		for (const kind of ["scroll", "focusin", "pointerup", "keyup"]) {
			shown.panel.addEventListener(kind, look, { capture: true, passive: true, signal: shown.waiting.signal });
		}
	}

	/** A view is gone, and its panel with it, unless the result is what took its place. */
	#left(shown: Shown): void {
		if (!this.#views.has(shown)) {
			return;
		}
		if (!this.#over || shown.outputs === null) {
			this.#end(shown);
			return;
		}
		this.#look();
		const timer = window.setTimeout(() => this.#end(shown), RESULT_AFTER);
		shown.life.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
	}

	#end(shown: Shown): void {
		if (this.#views.delete(shown)) {
			shown.waiting.abort();
			shown.life.abort();
		}
	}

	#look(): void {
		for (const root of this.#results.roots()) {
			this.#take(root);
		}
	}

	/** Shows a panel in the place of a result; the one that was there before, if it was. */
	#take(root: Element): void {
		// Whoever put a host there, and be it another copy of this module: one panel is enough.
		if (this.#failed.has(root) || root.nextElementSibling?.classList.contains(HOST)) {
			return;
		}
		const outputs = root.closest(OUTPUTS);
		const before = [...this.#views].find(
			(shown) => shown.outputs !== null && shown.outputs === outputs && !shown.panel.isConnected,
		);
		if (before === undefined) {
			this.#near.observe(root);
		} else {
			this.#put(root, (host) => this.#move(before, host));
		}
	}

	/** Puts a panel behind a result, which panel.css then hides. */
	#put(root: Element, panelIn: (host: HTMLElement) => Shown): void {
		// Formulas are typeset in HTML, but this is text.
		const host = element("div", `${HOST} mathjax_ignore`);
		root.after(host);
		try {
			this.#hosts.set(host, panelIn(host));
			this.#sizes.observe(host);
		} catch (error) {
			// The result is seen, as without us.
			this.#failed.add(root);
			host.remove();
			report(error);
		}
	}

	#move(shown: Shown, host: HTMLElement): Shown {
		this.#views.delete(shown);
		shown.outputs = null;
		shown.waiting.abort();
		host.append(shown.panel);
		shown.restore();
		shown.restore = () => {};
		return shown;
	}

	#show(el: HTMLElement): Shown {
		const life = new AbortController();
		try {
			return { panel: this.#make(el, life.signal), life, outputs: null, waiting: new AbortController(), restore() {} };
		} catch (error) {
			life.abort();
			throw error;
		}
	}

	/**
	 * Ends a panel whose output is gone. One that is out of the page may come back: then it is as it was. A cell that is
	 * moved comes back as another one, so no more of them wait than the notebook has results.
	 */
	#lookAfter(host: Element): void {
		const shown = this.#hosts.get(host);
		if (shown === undefined || host.isConnected) {
			return;
		}
		// The oldest is the first.
		const away = [...this.#hosts.keys()].filter((other) => !other.isConnected);
		const back = this.#results.inNotebook;
		for (const gone of away.slice(0, Math.max(0, away.length - back))) {
			this.#remove(gone);
		}
		if (this.#hosts.has(host)) {
			const timer = window.setTimeout(() => this.#lookAfter(host), LOOK_EVERY);
			shown.life.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
		}
	}

	#remove(host: Element): void {
		const shown = this.#hosts.get(host);
		this.#hosts.delete(host);
		this.#sizes.unobserve(host);
		// Should it come back all the same, it is a result that appears.
		host.remove();
		shown?.life.abort();
	}
}
