import { beforeEach, describe, expect, it } from "vitest";
import { Check, type Known } from "./check";

const RUNNING: Known = { running: true, behind: false, link: "live", seq: 0 };
const BEHIND: Known = { ...RUNNING, behind: true };
const OVER: Known = { ...RUNNING, running: false };

let check: Check;

beforeEach(() => {
	check = new Check(RUNNING, 0);
});

describe("a question", () => {
	it("is due a second after a gap was seen, however much comes meanwhile", () => {
		check.look(BEHIND, 500);
		check.heard(false, 900);
		check.look(BEHIND, 900);
		expect(check.due).toBe(1500);
	});

	it("is due at once in a page that comes late, and after that as in any other", () => {
		const late = { ...RUNNING, seq: 7 };
		check = new Check(late, 500);
		expect(check.due).toBe(500);
		check.asked(late, 500);
		check.heard(true, 600);
		check.look(late, 600);
		expect(check.due).toBe(30_600);
		expect(new Check({ ...late, running: false }, 500).due).toBeNull();
	});

	it("is not due when the gap was closed", () => {
		check.look(BEHIND, 500);
		check.heard(false, 900);
		check.look(RUNNING, 900);
		expect(check.due).toBe(15_900);
	});

	it("is due once more when the answer crossed an update that came behind the gap", () => {
		check.look(BEHIND, 0);
		check.asked(BEHIND, 1000);
		check.heard(true, 1100);
		check.look(BEHIND, 1100);
		expect(check.due).toBe(2100);
	});

	it("is due less and less often while a run is silent, and soon again when it was not", () => {
		const waits: number[] = [];
		let now = 0;
		for (let round = 0; round < 6; round += 1) {
			waits.push((check.due ?? Number.NaN) - now);
			now = check.due ?? Number.NaN;
			check.asked(RUNNING, now);
			check.heard(true, now);
			check.look(RUNNING, now);
		}
		expect(waits).toEqual([15_000, 30_000, 60_000, 120_000, 240_000, 240_000]);
		check.heard(false, now);
		check.look(RUNNING, now);
		expect(check.due).toBe(now + 15_000);
	});

	it("is due once at the end of a run", () => {
		check.look(OVER, 700);
		expect(check.due).toBe(700);
		check.asked(OVER, 700);
		check.heard(true, 750);
		check.look(OVER, 750);
		expect(check.due).toBeNull();
	});

	it("is not due for a run that was over when the page came", () => {
		expect(new Check(OVER, 0).due).toBeNull();
	});

	it("waits for a kernel that does not answer, and not for ever", () => {
		check.asked(RUNNING, 15_000);
		check.heard(false, 20_000);
		check.look(RUNNING, 20_000);
		expect(check.due).toBe(315_000);
	});

	it("is due at once when the connection is back, and never while there is none", () => {
		check.asked(RUNNING, 1000);
		check.look({ ...RUNNING, link: "lost" }, 2000);
		expect(check.due).toBeNull();
		check.look(RUNNING, 5000);
		expect(check.due).toBe(5000);
		check.look({ ...BEHIND, link: "gone" }, 6000);
		expect(check.due).toBeNull();
	});
});
