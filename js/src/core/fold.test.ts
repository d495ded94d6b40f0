import { describe, expect, it } from "vitest";
import cases from "../../../tests/golden/updates.json";
import { applyUpdate } from "./fold";
import { parseUpdate, parseView } from "./wire";

describe("the golden updates, which Python folds too", () => {
	for (const example of cases) {
		it(example.name, () => {
			const fold = () => applyUpdate(parseView(example.view), parseUpdate(example.update));
			if (example.error !== undefined) {
				expect(fold).toThrow(example.error);
			} else {
				expect(fold()).toEqual(example.result);
			}
		});
	}
});
