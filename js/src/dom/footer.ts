/** What of a stream is shown when not everything is, and where the rest is. */

import { type Retain, shownText, spillText } from "../core/format";
import type { OutputView } from "../core/wire";
import { element, setText } from "./element";

export class Footer {
	readonly #shown = element("span", "boundcap-shown");
	readonly #spillText = element("span", "boundcap-spill-text");
	/** The path is the kernel's to abbreviate; here it stands as it came, to be selected and copied. */
	readonly #spill = element("code", "boundcap-spill", { title: "file with the output, byte for byte" });
	readonly #place = element("span", "boundcap-place", {}, this.#spillText, " ", this.#spill);
	readonly node = element("div", "boundcap-footer", {}, this.#shown, this.#place);

	draw(view: OutputView | null, retain: Retain): void {
		const spill = view ? spillText(view.metadata) : "";
		const path = view?.metadata.spillPath ?? "";
		setText(this.#shown, view ? shownText(view, retain) : "");
		setText(this.#spillText, spill);
		setText(this.#spill, path);
		this.#shown.hidden = this.#shown.textContent === "";
		this.#spill.hidden = path === "";
		this.#place.hidden = spill === "";
		this.node.hidden = this.#shown.hidden && this.#place.hidden;
	}
}
