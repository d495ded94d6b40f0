import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BlobKeeper } from "./keeper";

/** Larger than any page. */
const LARGE = 100 * 1024 * 1024;
let large = 0;
let refuse = false;

beforeEach(() => {
	large = 0;
	refuse = false;
	vi.useFakeTimers();
	vi.stubGlobal(
		"ArrayBuffer",
		class extends ArrayBuffer {
			constructor(length: number) {
				super(Math.min(length, 1));
				large += length > LARGE ? 1 : 0;
				if (refuse) {
					throw new RangeError("Array buffer allocation failed");
				}
			}
		},
	);
});

afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

function keepPages(count: number) {
	const keeper = new BlobKeeper("output.log");
	for (let page = 0; page < count; page += 1) {
		keeper.keep(new Uint8Array([page]));
	}
	return keeper;
}

it("prompts Chromium to collect every few pages, when the next page has been asked for", () => {
	vi.stubGlobal("performance", { memory: {} });
	keepPages(9);
	expect(large).toBe(0);
	vi.runAllTimers();
	expect(large).toBe(3);
});

it("leaves other browsers to their own rules", () => {
	vi.stubGlobal("performance", {});
	keepPages(9);
	vi.runAllTimers();
	expect(large).toBe(0);
});

it("goes on where there is no room for the prompt", () => {
	vi.stubGlobal("performance", { memory: {} });
	refuse = true;
	keepPages(3);
	expect(() => vi.runAllTimers()).not.toThrow();
	expect(large).toBe(1);
});
