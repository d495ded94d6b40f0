/**
 * Where the reader is in the text: at its end, which is then followed, or at a line, which then stays where it is. Only
 * the text area is ever scrolled, never the page.
 */

/** Set while the end is followed: panel.css turns the browser's own keeping off by it. */
const FOLLOWING = "boundcap-following";

/** Pixels from the end that still count as the end: zoomed pages round. */
const END_SLACK = 4;

/** Milliseconds. A scroll upwards that was under way when the reader went to the end is over by then. */
const SETTLED = 300;

/** The part of the area that newly revealed lines fill; the rest is for what the reader knows already. */
const REVEALED = 0.85;

/** A line that the browser is to keep: pixels below the upper edge of the area, and the scroll position it began with. */
interface Entrusted {
	readonly line: HTMLElement;
	readonly below: number;
	readonly scrollTop: number;
}

export class Follow {
	following = true;
	readonly #area: HTMLElement;
	readonly #lineAt: (y: number) => HTMLElement | null;
	readonly #changed: () => void;
	/**
	 * Browsers that keep a reader's place themselves do it without breaking off a scroll that is under way, as setting
	 * `scrollTop` would. They must not do it at the end, which is followed instead.
	 */
	readonly #anchored = globalThis.CSS?.supports?.("overflow-anchor", "auto") ?? false;
	/**
	 * False from letting go to the first change after it: Chromium looks for the line to keep during a layout, and has
	 * had none since it was allowed to.
	 */
	#hasAnchor = false;
	/** Since the last look at what the browser made of it. */
	#entrusted: Entrusted | null = null;
	#frame = 0;
	#lastTop = 0;
	#wentToEnd = Number.NEGATIVE_INFINITY;

	/**
	 * `content` is the part of `area` that grows; `lineAt` finds the line at a height of the viewport; `changed` is
	 * called when following begins or ends.
	 */
	constructor(
		area: HTMLElement,
		content: HTMLElement,
		lineAt: (y: number) => HTMLElement | null,
		changed: () => void,
		signal: AbortSignal,
	) {
		this.#area = area;
		this.#lineAt = lineAt;
		this.#changed = changed;
		area.classList.add(FOLLOWING);
		area.addEventListener("scroll", () => this.#scrolled(), { passive: true, signal });
		// What the reader does from here on is a wish of its own.
		const wish = () => {
			this.#wentToEnd = Number.NEGATIVE_INFINITY;
		};
		for (const kind of ["wheel", "pointerdown", "touchstart", "keydown"]) {
			area.addEventListener(kind, wish, { passive: true, signal });
		}
		// The end also moves when the page is resized, fonts arrive, or a notebook takes the cell out and puts it back.
		const sizes = new ResizeObserver(() => this.#pin());
		sizes.observe(area);
		sizes.observe(content);
		signal.addEventListener(
			"abort",
			() => {
				sizes.disconnect();
				cancelAnimationFrame(this.#frame);
			},
			{ once: true },
		);
	}

	/** Makes a change of the text without moving the reader. */
	keep(change: () => void): void {
		if (this.following) {
			change();
			this.#pin();
			return;
		}
		if (this.#anchored && this.#hasAnchor) {
			this.#entrust();
			change();
			return;
		}
		this.#hasAnchor = true;
		const kept = this.#place();
		change();
		this.#putBack(kept);
	}

	/** The line that the reader has at the upper edge. */
	#place(): Entrusted | null {
		const line = this.#lineAt(this.#top);
		return line && { line, below: this.#below(line), scrollTop: this.#area.scrollTop };
	}

	#below(line: HTMLElement): number {
		return line.getBoundingClientRect().top - this.#top;
	}

	/** Where the text that is in sight begins: within the border. */
	get #top(): number {
		return this.#area.getBoundingClientRect().top + this.#area.clientTop;
	}

	#putBack(kept: Entrusted | null): void {
		if (kept?.line.isConnected) {
			this.#area.scrollTop += this.#below(kept.line) - kept.below;
		}
		this.#lastTop = this.#area.scrollTop;
	}

	/**
	 * Leaves a change to the browser, and looks when it has had its layout whether it did something. Chromium now and then
	 * does not, on a busy machine where others read the layout meanwhile: two runs of eight in tests/browser/test_reading.py
	 * ended as many lines further on as an update had dropped.
	 */
	#entrust(): void {
		this.#entrusted ??= this.#place();
		cancelAnimationFrame(this.#frame);
		// A frame begins before its layout.
		this.#frame = requestAnimationFrame(() => {
			this.#frame = requestAnimationFrame(() => this.#check());
		});
	}

	#check(): void {
		const kept = this.#entrusted;
		this.#entrusted = null;
		// At another position it is where the browser or the reader has put it.
		if (kept !== null && !this.following && this.#area.scrollTop === kept.scrollTop) {
			this.#putBack(kept);
		}
	}

	/** Lets go of the end and shows the last lines of `node`, with the first of what follows it. */
	reveal(node: HTMLElement): void {
		this.#set(false);
		// What is revealed after what was revealed may bring the same scroll position.
		this.#entrusted = null;
		const end = node.getBoundingClientRect().bottom - this.#top + this.#area.scrollTop;
		this.#area.scrollTop = end - this.#area.clientHeight * REVEALED;
		this.#lastTop = this.#area.scrollTop;
	}

	toEnd(): void {
		this.#wentToEnd = performance.now();
		this.#set(true);
		this.#pin();
	}

	#pin(): void {
		if (this.following) {
			this.#area.scrollTop = this.#area.scrollHeight;
			this.#lastTop = this.#area.scrollTop;
		}
	}

	#scrolled(): void {
		const { scrollTop, clientHeight, scrollHeight } = this.#area;
		if (scrollTop + clientHeight >= scrollHeight - END_SLACK) {
			this.#set(true);
		} else if (this.following && performance.now() - this.#wentToEnd < SETTLED) {
			this.#pin();
			return;
		} else if (scrollTop < this.#lastTop) {
			// Only a move upwards lets go: text that grew since the last pin is not a wish of the reader.
			this.#set(false);
		}
		this.#lastTop = scrollTop;
	}

	#set(following: boolean): void {
		if (this.following !== following) {
			this.following = following;
			this.#hasAnchor = false;
			this.#entrusted = null;
			this.#area.classList.toggle(FOLLOWING, following);
			this.#changed();
		}
	}
}
