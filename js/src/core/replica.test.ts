import { beforeEach, describe, expect, it } from "vitest";
import { changed } from "./change";
import { metadata, status, view } from "./examples";
import { Replica } from "./replica";

const append = (seq: number, text: string) => ({
	type: "update",
	seq,
	update: { kind: "append", text, metadata: metadata({}, { totalBytes: seq }) },
});
const replace = (seq: number, text: string) => ({
	type: "update",
	seq,
	update: { kind: "replace", output: view(text) },
});
const snapshot = (seq: number, text: string | null, changes = {}) => ({
	seq,
	output: text === null ? null : view(text),
	status: status(changes),
});

let replica: Replica;
/** The text as a panel that hears every event draws it. */
let drawn: string;

beforeEach(() => {
	replica = new Replica(0);
	drawn = "";
	replica.subscribe(({ change }) => {
		drawn = changed(drawn, change);
	});
});

function take(...messages: unknown[]): void {
	for (const message of messages) {
		replica.takeMessage(message, 0);
	}
}

describe("updates", () => {
	it("are folded in order", () => {
		take(replace(1, "a\n"), append(2, "b\n"), append(3, "c\n"));
		expect(replica.output?.text).toBe("a\nb\nc\n");
		expect(replica.output?.metadata.truncation.totalBytes).toBe(3);
		expect(drawn).toBe("a\nb\nc\n");
	});

	it("that the snapshot held already are ignored", () => {
		replica.takeSnapshot(snapshot(2, "a\nb\n"), 0);
		take(replace(1, "a\n"), append(2, "b\n"), append(3, "c\n"));
		expect(drawn).toBe("a\nb\nc\n");
		expect(replica.behind).toBe(false);
	});

	it("that come twice count once", () => {
		take(replace(1, "a\n"), append(2, "b\n"), append(2, "b\n"));
		expect(drawn).toBe("a\nb\n");
	});

	it("are not folded behind a gap: text and totals stay those of one moment", () => {
		take(replace(1, "a\n"), append(3, "c\n"), append(4, "d\n"));
		expect(replica.behind).toBe(true);
		expect(replica.output).toEqual(view("a\n"));
		expect(drawn).toBe("a\n");
	});

	it("go on behind a gap that a replace closed", () => {
		take(replace(1, "a\n"), append(3, "c\n"), replace(4, "a\nb\nc\nd\n"), append(5, "e\n"));
		expect(replica.behind).toBe(false);
		expect(drawn).toBe("a\nb\nc\nd\ne\n");
	});

	it("go on behind a gap that a snapshot closed", () => {
		take(replace(1, "a\n"), append(3, "c\n"));
		replica.takeSnapshot(snapshot(3, "a\nb\nc\n"), 0);
		take(append(4, "d\n"));
		expect(drawn).toBe("a\nb\nc\nd\n");
	});

	it("wait on while a snapshot closes only part of the gap", () => {
		take(replace(1, "a\n"), append(4, "d\n"));
		replica.takeSnapshot(snapshot(3, "a\nb\nc\n"), 0);
		expect(replica.behind).toBe(true);
		expect(drawn).toBe("a\nb\nc\n");
	});

	it("that come before any output wait for it", () => {
		take(append(1, "b\n"));
		expect(replica.output).toBeNull();
		take(replace(2, "a\n"));
		expect(drawn).toBe("a\n");
	});

	it("that do not fit are a gap, and nothing of them is taken", () => {
		take(replace(1, "a\n"));
		const misfit = { type: "update", seq: 2, update: { kind: "slide", drop: 9, text: "x", metadata: metadata() } };
		expect(() => take(misfit)).toThrow("reach beyond");
		take(append(3, "c\n"));
		expect(replica.output).toEqual(view("a\n"));
		expect(replica.behind).toBe(true);
		take(replace(4, "z\n"));
		expect(drawn).toBe("z\n");
	});

	it("that are malformed change nothing", () => {
		take(replace(1, "a\n"));
		expect(() => take({ type: "update", seq: 2, update: { kind: "append", text: "b\n" } })).toThrow("metadata");
		expect(replica.output).toEqual(view("a\n"));
		take(append(2, "b\n"));
		expect(drawn).toBe("a\nb\n");
	});

	it("that replace leave the lines that stay", () => {
		take({ type: "update", seq: 1, update: { kind: "replace", output: view("a\nb\nc\n") } });
		const changes: unknown[] = [];
		replica.subscribe(({ change }) => changes.push(change));
		const output = view("b\nc\nd\n", metadata({ omittedLines: 1, omittedBytes: 2 }));
		take({ type: "update", seq: 2, update: { kind: "replace", output } });
		expect(changes).toEqual([{ drop: 2, cut: 0, text: "d\n" }]);
	});
});

describe("a snapshot", () => {
	it("that is older is ignored", () => {
		take(replace(1, "a\n"), append(2, "b\n"));
		replica.takeSnapshot(snapshot(1, "a\n", { state: "stopped" }), 0);
		expect(drawn).toBe("a\nb\n");
		expect(replica.running).toBe(true);
	});

	it("without output is the start of a run", () => {
		replica.takeSnapshot(snapshot(0, null), 0);
		take(replace(1, "a\n"));
		expect(drawn).toBe("a\n");
	});

	it("of a run that ended shows its end", () => {
		replica.takeSnapshot(snapshot(7, "a\n", { state: "exited", exitCode: 3, duration: 2.5 }), 1000);
		expect(replica.running).toBe(false);
		expect(replica.elapsed(99_000)).toBe(2.5);
	});

	it("that is malformed changes nothing", () => {
		take(replace(1, "a\n"));
		expect(() => replica.takeSnapshot({ seq: 9, output: view("z") }, 0)).toThrow("snapshot.status");
		expect(replica.output).toEqual(view("a\n"));
	});
});

describe("the status", () => {
	it("ticks from when it was read, and stands still at the end", () => {
		replica.takeSnapshot(snapshot(0, null, { duration: 10 }), 5000);
		expect(replica.elapsed(5000)).toBe(10);
		expect(replica.elapsed(7500)).toBe(12.5);
		replica.takeMessage({ type: "status", status: status({ state: "exited", exitCode: 0, duration: 12.7 }) }, 8000);
		expect(replica.elapsed(60_000)).toBe(12.7);
	});

	it("is final once the run has ended", () => {
		take({ type: "status", status: status({ state: "stopped" }) }, { type: "status", status: status() });
		expect(replica.status.state).toBe("stopped");
	});
});

describe("listeners", () => {
	it("are told of what is no text, too", () => {
		const events: unknown[] = [];
		replica.subscribe((event) => events.push(event));
		take({ type: "stopping" });
		replica.askToStop();
		expect(events).toHaveLength(2);
	});

	it("hear no more once they left", () => {
		let heard = 0;
		const leave = replica.subscribe(() => {
			heard += 1;
		});
		leave();
		take(replace(1, "a\n"));
		expect(heard).toBe(0);
	});
});
