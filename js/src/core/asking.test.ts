import { beforeEach, describe, expect, it } from "vitest";
import type { Answer } from "./answers";
import { KERNEL_GONE, RETRY_AFTER, SILENCE } from "./asking";
import { Played } from "./played";

let kernel: Played;
let told: (Answer | "silent")[];

beforeEach(() => {
	kernel = new Played(41);
	told = [];
});

const listener = { answered: (answer: Answer) => told.push(answer), silent: () => told.push("silent") };
const ask = (before = 5) => kernel.asking.ask({ type: "older", stream: "output", before }, listener);

describe("a request", () => {
	it("has a number of its own, and is told its answer, once", () => {
		ask(5);
		ask(6);
		expect(kernel.asked.map(({ id }) => id)).toEqual([41, 42]);
		kernel.older(0, "a\n", 41);
		kernel.older(0, "a\n", 41);
		expect(told).toEqual([{ type: "older", id: 41, begins: 0, lines: 1, newlines: 1, text: "a\n", leadSgr: "" }]);
	});

	it("does not hear what another page asked for, nor what nobody waits for any more", () => {
		const stop = ask();
		kernel.older(0, "a\n", 7);
		stop();
		kernel.older(0, "a\n");
		kernel.pass(10 * SILENCE);
		expect(told).toEqual([]);
		expect(kernel.asked).toHaveLength(1);
	});

	it("that should come again does, under its number", () => {
		ask();
		kernel.refuse("busy", true);
		expect(kernel.asked).toHaveLength(1);
		kernel.pass(RETRY_AFTER);
		expect(kernel.asked).toHaveLength(2);
		expect(kernel.asked[1]).toEqual(kernel.asked[0]);
		kernel.older(0, "a\n");
		expect(told).toHaveLength(1);
		expect(kernel.timers).toBe(0);
	});

	it("without an answer is repeated, less and less often, and the silence is told once", () => {
		ask();
		kernel.pass(SILENCE - 1);
		expect([told, kernel.asked.length]).toEqual([[], 1]);
		kernel.pass(1);
		expect([told, kernel.asked.length]).toEqual([["silent"], 2]);
		kernel.pass(2 * SILENCE);
		expect(kernel.asked).toHaveLength(3);
		kernel.pass(1000 * SILENCE);
		expect(kernel.asked.length).toBeLessThan(12);
		expect(told).toEqual(["silent"]);
		kernel.older(0, "a\n");
		expect(told).toHaveLength(2);
		expect(kernel.timers).toBe(0);
	});
});

describe("a kernel that is gone", () => {
	it("is said to whoever waits, and to whoever asks", () => {
		let changes = 0;
		kernel.asking.subscribe(() => {
			changes += 1;
		});
		ask();
		kernel.asking.lose();
		expect(told).toEqual([{ type: "refused", id: 41, reason: KERNEL_GONE, retry: false }]);
		expect([kernel.asking.lost, changes, kernel.timers]).toEqual([true, 1, 0]);
	});

	it("is one to which nothing can be sent", () => {
		kernel.broken = new Error("closed");
		ask();
		expect(kernel.asking.lost).toBe(true);
		expect(told).toHaveLength(1);
	});

	it("is back when it answers", () => {
		kernel.asking.lose();
		ask();
		kernel.older(0, "a\n");
		expect(kernel.asking.lost).toBe(false);
	});
});

it("a malformed answer is an error, and the request goes on waiting", () => {
	ask();
	expect(() => kernel.asking.take({ type: "older", id: 41 }, [])).toThrow("message.begins");
	kernel.older(0, "a\n");
	expect(told).toHaveLength(1);
});

it("the end leaves no timer and no listener", () => {
	ask();
	ask();
	kernel.asking.end();
	expect(kernel.timers).toBe(0);
	kernel.older(0, "a\n", 41);
	expect(told).toEqual([]);
});
