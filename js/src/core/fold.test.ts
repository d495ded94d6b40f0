import { describe, expect, it } from "vitest";
import runs from "../../../tests/golden/runs.json";
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

describe("the updates of whole runs", () => {
	for (const run of runs) {
		it(`fold to what a terminal leaves: ${run.name}`, () => {
			const [first, ...others] = (run.updates as unknown[]).map((update) => parseUpdate(update));
			if (first?.kind !== "replace") throw new Error("a run begins with a complete view");
			expect(others.reduce(applyUpdate, first.output).text).toBe(run.text);
		});
	}
});
