/** What is shown when not everything is, where the rest is, and why a run failed. */

import { type Retain, shownText, spillText } from "../core/format";
import type { Replica } from "../core/replica";
import { element, setText } from "./element";

export class Footer {
	readonly #detail = element("span", "boundcap-detail");
	readonly #shown = element("span", "boundcap-shown");
	readonly #spillText = element("span", "boundcap-spill-text");
	/** The path is the kernel's to abbreviate; here it stands as it came, to be selected and copied. */
	readonly #spill = element("code", "boundcap-spill", { title: "file with the output, byte for byte" });
	readonly #place = element("span", "boundcap-place", {}, this.#spillText, " ", this.#spill);
	readonly node = element("div", "boundcap-footer", {}, this.#detail, this.#shown, this.#place);

	draw({ output, status }: Replica, retain: Retain): void {
		const metadata = output?.metadata;
		const spill = metadata ? spillText(metadata) : "";
		const path = metadata?.spillPath ?? "";
		// That the time was up is the state itself.
		setText(this.#detail, status.state === "timeout" ? "" : status.detail);
		setText(this.#shown, output ? shownText(output, retain) : "");
		setText(this.#spillText, spill);
		setText(this.#spill, path);
		this.#detail.hidden = this.#detail.textContent === "";
		this.#shown.hidden = this.#shown.textContent === "";
		this.#spill.hidden = path === "";
		this.#place.hidden = spill === "";
		this.node.hidden = this.#detail.hidden && this.#shown.hidden && this.#place.hidden;
	}
}
