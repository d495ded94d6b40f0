import { describe, expect, it } from "vitest";
import { Pace } from "./pace";

describe("the rate", () => {
	it("is not told in the first second", () => {
		const pace = new Pace(0, 0);
		pace.take(5000, 900);
		expect(pace.rate(999)).toBeNull();
		expect(pace.rate(1000)).toBe(5000);
	});

	it("is that of the last five seconds, steady under steady output", () => {
		const pace = new Pace(0, 0);
		for (let now = 100; now <= 60_000; now += 100) {
			pace.take(now * 3, now);
			if (now >= 2000) {
				expect(pace.rate(now)).toBe(3000);
			}
		}
		for (let now = 60_100; now <= 67_000; now += 100) {
			pace.take(180_000, now);
			pace.rate(now);
		}
		expect(pace.rate(67_000)).toBe(0);
	});

	it("changes once a second, however often it is asked for", () => {
		const pace = new Pace(0, 0);
		const told = new Set<number | null>();
		for (let now = 1000; now < 4000; now += 50) {
			pace.take(now ** 2, now);
			told.add(pace.rate(now));
		}
		expect(told.size).toBe(3);
	});

	it("does not count what was there before a panel looked", () => {
		const pace = new Pace(1_000_000, 0);
		pace.take(1_000_500, 1000);
		expect(pace.rate(1000)).toBe(500);
	});
});

describe("the quiet", () => {
	it("lasts from the last new byte on; updates without any do not break it", () => {
		const pace = new Pace(0, 0);
		pace.take(10, 2000);
		pace.take(10, 6000);
		expect(pace.quiet(9000)).toBe(7000);
	});

	it("may have begun before the panel looked", () => {
		expect(new Pace(10, 1000, 30_000).quiet(2000)).toBe(31_000);
	});
});
