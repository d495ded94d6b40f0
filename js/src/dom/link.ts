/** What can be done with the complete output: copy its path, download it, show older lines of it. */

import { type Asking, KERNEL_GONE } from "../core/asking";
import type { Download } from "../core/download";
import { formatBytes, formatCount, type Retain } from "../core/format";
import { OlderLines } from "../core/older";
import type { Replica } from "../core/replica";
import type { StreamName } from "../core/wire";
import type { Body } from "./body";
import { copyText } from "./copy";
import { element, setText } from "./element";
import { BlobKeeper, downloadName } from "./keeper";

/** Milliseconds that a button says what it did. */
const SAID_FOR = 2000;

const BUSY = "waiting for the kernel, which is busy or away…";

export interface CompleteOutput {
	readonly asking: Asking;
	readonly download: Download;
	readonly stream: StreamName;
}

export class Link {
	readonly #replica: Replica;
	readonly #output: CompleteOutput;
	readonly #body: Body;
	readonly #older: OlderLines;
	readonly #more = button("show-more", "Show more");
	readonly #copy = button("copy-path", "Copy path");
	readonly #start = button("download", "Download");
	readonly #bar = element("progress", "boundcap-progress", { "aria-label": "download" });
	readonly #figures = element("span", "boundcap-figure");
	readonly #cancel = button("cancel", "Cancel");
	readonly #running = element("span", "boundcap-download-running", {}, this.#bar, this.#figures, this.#cancel);
	/** Announced: it is what became of a press of a button. */
	readonly #note = element("span", "boundcap-note", { role: "status" });
	readonly node = element(
		"div",
		"boundcap-complete",
		{},
		this.#more,
		this.#copy,
		this.#start,
		this.#running,
		this.#note,
	);
	#copied = 0;

	/** `redraw` asks for a drawing with the next frame. */
	constructor(replica: Replica, output: CompleteOutput, body: Body, redraw: () => void, signal: AbortSignal) {
		this.#replica = replica;
		this.#output = output;
		this.#body = body;
		this.#older = new OlderLines(output.asking, output.stream, (answer) => body.showOlder(answer), redraw);
		const unsubscribe = [output.download.subscribe(redraw), output.asking.subscribe(redraw)];
		this.#more.addEventListener("click", () => this.#showMore(), { signal });
		this.#copy.addEventListener("click", () => void this.#copyPath(), { signal });
		this.#start.addEventListener("click", () => this.#download(), { signal });
		this.#cancel.addEventListener("click", () => output.download.cancel(), { signal });
		signal.addEventListener(
			"abort",
			() => {
				clearTimeout(this.#copied);
				this.#older.end();
				for (const end of unsubscribe) {
					end();
				}
			},
			{ once: true },
		);
	}

	draw(retain: Retain): void {
		const metadata = this.#replica[this.#output.stream]?.metadata;
		const { asking, download } = this.#output;
		this.node.hidden = metadata?.spillPath == null;
		this.#body.drawGap(metadata ? this.#older.gap(metadata) : null);
		if (metadata?.spillPath == null) {
			return;
		}
		const older = this.#older.state;
		this.#more.hidden = !this.#older.offered(metadata, retain);
		this.#more.disabled = asking.lost || older.kind === "asking" || this.#older.full;
		this.#more.title = this.#older.full ? "that is as much as a page bears: download the rest" : "older lines, above";
		const state = download.state;
		const running = state.kind === "running";
		this.#start.hidden = running;
		this.#start.disabled = asking.lost;
		this.#start.title = `the complete output so far, ${formatBytes(metadata.spillBytes)}`;
		this.#running.hidden = !running;
		if (running) {
			const { received, total } = state;
			if (total === null) {
				this.#bar.removeAttribute("value");
			} else {
				this.#bar.max = Math.max(1, total);
				this.#bar.value = received;
			}
			setText(this.#figures, total === null ? "" : `${formatCount(received)} of ${formatBytes(total)}`);
		}
		setText(this.#note, this.#words());
		this.#note.hidden = this.#note.textContent === "";
	}

	#words(): string {
		const { asking, download } = this.#output;
		const older = this.#older.state;
		if (asking.lost) {
			return `${KERNEL_GONE}: the file is still where its path says`;
		}
		if ((older.kind === "asking" && older.silent) || (download.state.kind === "running" && download.state.silent)) {
			return BUSY;
		}
		if (older.kind === "failed") {
			return `no older lines: ${older.reason}`;
		}
		switch (download.state.kind) {
			case "failed":
				return `download failed: ${download.state.reason}`;
			case "done":
				return `downloaded ${formatBytes(download.state.total)}`;
			default:
				return this.#older.lines > 0 ? `${formatCount(this.#older.lines)} older lines above` : "";
		}
	}

	#showMore(): void {
		const metadata = this.#replica[this.#output.stream]?.metadata;
		if (metadata !== undefined) {
			this.#older.more(metadata);
		}
	}

	#download(): void {
		this.#output.download.start(new BlobKeeper(downloadName(this.#path)));
	}

	async #copyPath(): Promise<void> {
		const copied = await copyText(this.#path, this.#copy);
		setText(this.#copy, copied ? "Copied" : "Not copied");
		clearTimeout(this.#copied);
		this.#copied = window.setTimeout(() => setText(this.#copy, "Copy path"), SAID_FOR);
	}

	get #path(): string {
		return this.#replica[this.#output.stream]?.metadata.spillPath ?? "";
	}
}

function button(name: string, text: string): HTMLButtonElement {
	return element("button", `boundcap-button boundcap-${name}`, { type: "button" }, text);
}
