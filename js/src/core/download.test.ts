import { beforeEach, describe, expect, it } from "vitest";
import { SILENCE } from "./asking";
import { Download, type DownloadState, PAGE } from "./download";
import { Played } from "./played";

let kernel: Played;
let download: Download;
let states: DownloadState[];
let file: number[];
let ends: string[];

const keeper = {
	keep: (bytes: Uint8Array) => file.push(...bytes),
	save: () => ends.push("saved"),
	drop: () => ends.push("dropped"),
};
const bytes = (...values: number[]) => new Uint8Array(values);

beforeEach(() => {
	kernel = new Played();
	download = new Download(kernel.asking, "stderr");
	[states, file, ends] = [[], [], []];
	download.subscribe(() => states.push(download.state));
	download.start(keeper);
});

describe("a download", () => {
	it("asks for a page at a time, one after the other, until it has all", () => {
		expect(kernel.asked).toEqual([{ type: "page", id: 100, stream: "stderr", offset: 0, length: PAGE, base64: false }]);
		kernel.page(5, bytes(1, 2, 3));
		expect(kernel.last).toMatchObject({ offset: 3, length: 2 });
		expect(download.state).toEqual({ kind: "running", received: 3, total: 5, silent: false });
		kernel.page(5, bytes(4, 5));
		expect(kernel.asked).toHaveLength(2);
		expect([file, ends, download.state]).toEqual([[1, 2, 3, 4, 5], ["saved"], { kind: "done", total: 5 }]);
		expect(kernel.timers).toBe(0);
	});

	it("is of what was there when it began, however much comes after", () => {
		kernel.page(4, bytes(1, 2, 3));
		kernel.page(900, bytes(4, 5, 6));
		expect([file, ends]).toEqual([[1, 2, 3, 4], ["saved"]]);
	});

	it("of an empty file is an empty file", () => {
		kernel.page(0, bytes());
		expect([file, ends, download.state]).toEqual([[], ["saved"], { kind: "done", total: 0 }]);
	});

	it("runs once, and again when it is over", () => {
		download.start(keeper);
		expect(kernel.asked).toHaveLength(1);
		kernel.page(1, bytes(1));
		download.start(keeper);
		expect(kernel.last).toMatchObject({ offset: 0, id: 101 });
	});

	it("that is cancelled asks for nothing more, and keeps nothing", () => {
		kernel.page(5, bytes(1, 2, 3));
		download.cancel();
		kernel.page(5, bytes(4, 5));
		kernel.pass(100 * SILENCE);
		expect([ends, download.state, kernel.asked.length, kernel.timers]).toEqual([["dropped"], { kind: "idle" }, 2, 0]);
	});

	it("asks for text where the host loses buffers, and goes on so", () => {
		kernel.page(5, null);
		expect(kernel.last).toMatchObject({ offset: 0, base64: true });
		kernel.asking.take({ type: "page", id: kernel.last.id, size: 5, length: 3, base64: "AQID" }, []);
		expect(kernel.last).toMatchObject({ offset: 3, base64: true });
		expect(file).toEqual([1, 2, 3]);
		kernel.page(5, null);
		expect([ends, download.state.kind]).toEqual([["dropped"], "failed"]);
	});

	it("says that it waits, until it need not", () => {
		kernel.page(5, bytes(1, 2, 3));
		kernel.pass(SILENCE);
		expect(download.state).toEqual({ kind: "running", received: 3, total: 5, silent: true });
		kernel.page(5, bytes(4));
		expect(download.state).toEqual({ kind: "running", received: 4, total: 5, silent: false });
	});

	it.each<[string, string, () => void]>([
		["refused", "the file is gone", () => kernel.refuse("the file is gone")],
		["answered with lines", "the kernel answered something else", () => kernel.older(0, "a\n")],
		["of a file that lost its end", "the file ended 2 bytes too early", () => kernel.page(3, bytes())],
		["of a kernel that is gone", "the kernel that ran this is gone", () => kernel.asking.lose()],
	])("that is %s fails and says why", (_, reason, happens) => {
		kernel.page(5, bytes(1, 2, 3));
		happens();
		expect([ends, download.state]).toEqual([["dropped"], { kind: "failed", reason }]);
		expect(kernel.timers).toBe(0);
	});
});
