/** The bar above one of two texts: its name and its totals. Both look the same: only the exit status says "failed". */

import { formatBytes, formatLines } from "../core/format";
import type { OutputView } from "../core/wire";
import { element, setText } from "./element";

export class Heading {
	readonly #bytes = element("span", "boundcap-figure");
	readonly #lines = element("span", "boundcap-figure");
	readonly node: HTMLElement;

	constructor(name: string, copy: HTMLElement) {
		const title = element("span", "boundcap-name", {}, name);
		const figures = element("span", "boundcap-figures", {}, this.#bytes, this.#lines);
		this.node = element("div", "boundcap-heading", {}, title, figures, copy);
	}

	draw(view: OutputView | null, shown: boolean): void {
		const { totalBytes, totalLines } = view?.metadata.truncation ?? { totalBytes: 0, totalLines: 0 };
		setText(this.#bytes, totalBytes > 0 ? formatBytes(totalBytes) : "nothing");
		setText(this.#lines, totalBytes > 0 ? formatLines(totalLines) : "");
		this.node.hidden = !shown;
	}
}
