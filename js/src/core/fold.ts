/**
 * Folds an update into a view: the twin of `apply_update` in core/update.py, with the same rules and the same errors.
 *
 * | kind     | the text becomes                                     |
 * |----------|------------------------------------------------------|
 * | replace  | the output's text                                    |
 * | append   | text + new                                           |
 * | slide    | text without its first `drop`, + new                 |
 * | rewrite  | as slide, its last `cut` removed before              |
 * | metadata | as it was                                            |
 */

import { changed, NO_CHANGE, type TextChange } from "./change";
import type { OutputView, Update } from "./wire";

/** The change that an update makes to the text; null for a replace, which knows nothing of the text before it. */
export function changeOf(update: Update): TextChange | null {
	switch (update.kind) {
		case "replace":
			return null;
		case "append":
			return { drop: 0, cut: 0, text: update.text };
		case "slide":
			return { drop: update.drop, cut: 0, text: update.text };
		case "rewrite":
			return { drop: update.drop, cut: update.cut, text: update.text };
		case "metadata":
			return NO_CHANGE;
	}
}

/**
 * The view after the update.
 *
 * Throws a RangeError when `drop` and `cut` reach beyond the text or split a surrogate pair: the update then belongs to
 * another view. Costs one copy of the text.
 */
export function applyUpdate(view: OutputView, update: Update): OutputView {
	if (update.kind === "replace") {
		return update.output;
	}
	const change = changeOf(update);
	return { text: change ? changed(view.text, change) : view.text, metadata: update.metadata, head: view.head };
}
