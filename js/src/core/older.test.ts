import { beforeEach, describe, expect, it } from "vitest";
import { SILENCE } from "./asking";
import { metadata } from "./examples";
import type { Retain } from "./format";
import { MOST_LINES, OlderLines } from "./older";
import { Played } from "./played";

let kernel: Played;
let older: OlderLines;
let texts: string[];

beforeEach(() => {
	kernel = new Played();
	texts = [];
	older = new OlderLines(
		kernel.asking,
		"output",
		({ text }) => texts.unshift(text),
		() => {},
	);
});

const shown = (omittedBytes: number, omittedLines = omittedBytes / 10) =>
	metadata({ omittedBytes, omittedLines, spillState: "open", spillPath: "~/output.log" });

describe("older lines", () => {
	it("end where the view begins, and each step where the one before it began", () => {
		older.more(shown(1000));
		expect(kernel.last).toEqual({ type: "older", id: 100, stream: "output", before: 1000 });
		kernel.older(600, "c\nd\n");
		older.more(shown(5000));
		expect(kernel.last).toMatchObject({ before: 600 });
		kernel.older(0, "a\nb\n");
		expect(texts.join("")).toBe("a\nb\nc\nd\n");
		expect([older.lines, older.state.kind, kernel.timers]).toEqual([4, "idle", 0]);
		expect(older.offered(shown(5000), "tail")).toBe(false);
	});

	it("are asked for once at a time", () => {
		older.more(shown(1000));
		older.more(shown(1000));
		expect(kernel.asked).toHaveLength(1);
	});

	it.each<[string, ReturnType<typeof metadata>, Retain]>([
		["all is shown", shown(0), "tail"],
		["there is no file", metadata({ omittedBytes: 10 }), "tail"],
		["bytes are shown as hex", { ...shown(10), binary: true }, "tail"],
		["what is left out stands below", shown(10), "head"],
		["what is left out stands in the middle", shown(10), "both"],
	])("are not offered where %s", (_, facts, retain) => {
		expect(older.offered(facts, retain)).toBe(false);
	});

	it("know what has left the view since", () => {
		expect(older.gap(shown(1000))).toBeNull();
		older.more(shown(1000));
		expect(older.gap(shown(1200))).toBeNull();
		kernel.older(600, "c\nd\n");
		expect(older.gap(shown(1000))).toBeNull();
		expect(older.gap(shown(1200))).toEqual({ omittedBytes: 200, omittedLines: 20 });
	});

	it("are looked for further up where a step has none, but not for ever", () => {
		older.more(shown(1000));
		kernel.older(900, "");
		expect(kernel.last).toMatchObject({ before: 900 });
		kernel.older(800, "a\n");
		expect(texts).toEqual(["a\n"]);
		older.more(shown(1000));
		while (older.state.kind === "asking") {
			const { last } = kernel;
			kernel.older(last.type === "older" ? last.before - 10 : 0, "");
		}
		expect(kernel.asked).toHaveLength(10);
		expect(older.state.kind).toBe("idle");
	});

	it("end where a page has enough", () => {
		let begins = 10_000_000;
		while (!older.full) {
			older.more(shown(begins));
			begins -= 1000;
			kernel.older(begins, "a\n".repeat(2000));
		}
		expect(older.lines).toBe(MOST_LINES);
		older.more(shown(begins));
		expect(kernel.asked).toHaveLength(20);
	});

	it("say that they wait, and why they do not come; and may be asked for again", () => {
		older.more(shown(1000));
		kernel.pass(SILENCE);
		expect(older.state).toEqual({ kind: "asking", silent: true });
		kernel.refuse("the file is gone");
		expect(older.state).toEqual({ kind: "failed", reason: "the file is gone" });
		older.more(shown(1000));
		kernel.older(1000, "a\n");
		expect(older.state.kind).toBe("failed");
		expect(texts).toEqual([]);
	});

	it("are not waited for when their panel is gone", () => {
		older.more(shown(1000));
		older.end();
		kernel.older(600, "c\n");
		expect([texts, kernel.timers]).toEqual([[], 0]);
	});
});
