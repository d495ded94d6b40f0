import { beforeEach, describe, expect, it } from "vitest";
import golden from "../../../tests/golden/streams.json";
import { changed } from "./change";
import { metadata, status, view } from "./examples";
import { Replica } from "./replica";
import { parseSnapshot } from "./wire";

const append = (seq: number, text: string, stream = "output") => ({
	type: "update",
	seq,
	stream,
	update: { kind: "append", text, metadata: metadata({}, { totalBytes: seq }) },
});
const replace = (seq: number, text: string, stream = "output") => ({
	type: "update",
	seq,
	stream,
	update: { kind: "replace", output: view(text) },
});
const snapshot = (seq: number, text: string | null, changes = {}, errors: string | null = null) => ({
	seq,
	output: text === null ? null : view(text),
	stderr: errors === null ? null : view(errors),
	status: status(changes),
	quiet: 0,
});

let replica: Replica;
/** The text as a panel that hears every event draws it. */
let drawn: string;
let drawnErrors: string;

beforeEach(() => {
	replica = new Replica(0);
	drawn = drawnErrors = "";
	replica.subscribe(({ stream, change }) => {
		if (stream === "stderr") {
			drawnErrors = changed(drawnErrors, change);
		} else {
			drawn = changed(drawn, change);
		}
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
		const misfit = { ...append(2, ""), update: { kind: "slide", drop: 9, text: "x", metadata: metadata() } };
		expect(() => take(misfit)).toThrow("reach beyond");
		take(append(3, "c\n"));
		expect(replica.output).toEqual(view("a\n"));
		expect(replica.behind).toBe(true);
		take(replace(4, "z\n"));
		expect(drawn).toBe("z\n");
	});

	it("that are malformed change nothing", () => {
		take(replace(1, "a\n"));
		expect(() => take({ ...append(2, ""), update: { kind: "append", text: "b\n" } })).toThrow("metadata");
		expect(replica.output).toEqual(view("a\n"));
		take(append(2, "b\n"));
		expect(drawn).toBe("a\nb\n");
	});

	it("that replace leave the lines that stay", () => {
		take(replace(1, "a\nb\nc\n"));
		const changes: unknown[] = [];
		replica.subscribe(({ change }) => changes.push(change));
		const output = view("b\nc\nd\n", metadata({ omittedLines: 1, omittedBytes: 2 }));
		take({ ...replace(2, ""), update: { kind: "replace", output } });
		expect(changes).toEqual([{ drop: 2, cut: 0, text: "d\n" }]);
	});
});

describe("two streams", () => {
	it("are numbered in one row and folded apart", () => {
		take(replace(1, "a\n"), replace(2, "x\n", "stderr"), append(3, "b\n"), append(4, "y\n", "stderr"));
		expect(replica.output?.text).toBe("a\nb\n");
		expect(replica.stderr?.text).toBe("x\ny\n");
		expect([drawn, drawnErrors]).toEqual(["a\nb\n", "x\ny\n"]);
	});

	it("both wait behind a gap, each for its own replace", () => {
		take(replace(1, "a\n"), replace(2, "x\n", "stderr"), append(4, "c\n"), append(5, "z\n", "stderr"));
		expect([drawn, drawnErrors]).toEqual(["a\n", "x\n"]);
		take(replace(6, "a\nb\nc\n"), append(7, "d\n"), append(8, "z\n", "stderr"));
		expect([drawn, drawnErrors]).toEqual(["a\nb\nc\nd\n", "x\n"]);
		expect(replica.behind).toBe(true);
		take(replace(9, "x\ny\nz\nz\n", "stderr"), append(10, "e\n"));
		expect([drawn, drawnErrors]).toEqual(["a\nb\nc\nd\ne\n", "x\ny\nz\nz\n"]);
		expect(replica.behind).toBe(false);
	});

	it("go on, the one whose update fitted, when one of the other did not", () => {
		take(replace(1, "a\n"), replace(2, "x\n", "stderr"));
		const misfit = { ...append(3, "", "stderr"), update: { kind: "slide", drop: 9, text: "x", metadata: metadata() } };
		expect(() => take(misfit)).toThrow("reach beyond");
		take(append(4, "b\n"), append(5, "y\n", "stderr"));
		expect([drawn, drawnErrors]).toEqual(["a\nb\n", "x\n"]);
	});

	it("are both in a snapshot, which closes a gap of both", () => {
		take(replace(1, "a\n"), append(4, "z\n", "stderr"));
		replica.takeSnapshot(snapshot(4, "a\nb\n", {}, "x\ny\nz\n"), 0);
		take(append(5, "!\n", "stderr"), append(6, "c\n"));
		expect([drawn, drawnErrors]).toEqual(["a\nb\nc\n", "x\ny\nz\n!\n"]);
	});

	it("have what the snapshot has of them and no more, when it is older than one of them", () => {
		take(replace(1, "a\n"), replace(2, "x\n", "stderr"), append(4, "c\n"), replace(5, "x\ny\n", "stderr"));
		replica.takeSnapshot(snapshot(3, "a\nb\n", {}, "x\n"), 0);
		expect([drawn, drawnErrors]).toEqual(["a\nb\n", "x\ny\n"]);
		take(append(6, "z\n", "stderr"), append(7, "d\n"));
		expect([drawn, drawnErrors]).toEqual(["a\nb\n", "x\ny\nz\n"]);
	});

	it("are not waited for, the one that never came", () => {
		take(replace(1, "a\n"), append(3, "c\n"), replace(4, "a\nb\nc\n"));
		expect(replica.behind).toBe(false);
		expect(replica.stderr).toBeNull();
	});
});

describe("the golden streams, which Python sends", () => {
	for (const { name, messages, snapshot } of golden) {
		it(name, () => {
			take(...messages);
			const { views, status } = parseSnapshot(snapshot);
			expect({ output: replica.output, stderr: replica.stderr }).toEqual(views);
			expect(replica.status).toEqual(status);
			for (let lost = 1; lost <= messages.length; lost += 1) {
				// As for a page that opens late: the messages before the snapshot are gone, or come once more.
				const late = new Replica(0);
				late.takeSnapshot(snapshot, 0);
				for (const message of messages.slice(lost)) {
					late.takeMessage(message, 0);
				}
				expect({ output: late.output, stderr: late.stderr }).toEqual(views);
			}
		});
	}
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
		expect(() => replica.takeSnapshot({ seq: 9, output: view("z"), stderr: null, quiet: 0 }, 0)).toThrow(
			"snapshot.status",
		);
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

describe("silence", () => {
	it("that began before the page came is counted", () => {
		replica.takeSnapshot({ ...snapshot(2, "a\n"), quiet: 90 }, 1000);
		expect(replica.pace.quiet(1000)).toBe(90_000);
		expect(replica.pace.quiet(3000)).toBe(92_000);
		take(append(3, "b\n"));
		expect(replica.pace.quiet(0)).toBe(0);
	});
});

describe("the link to the kernel", () => {
	it("that is lost stops the time, which goes on when it is back", () => {
		replica.takeSnapshot(snapshot(0, null, { duration: 10 }), 0);
		replica.setLink("lost", 3000);
		expect(replica.ticking).toBe(false);
		expect(replica.elapsed(60_000)).toBe(13);
		replica.setLink("live", 61_000);
		expect(replica.elapsed(62_000)).toBe(72);
	});

	it("that is gone stays gone, and what was lost before keeps its time", () => {
		replica.setLink("lost", 3000);
		replica.setLink("gone", 9000);
		replica.setLink("live", 10_000);
		expect(replica.link).toBe("gone");
		expect(replica.elapsed(20_000)).toBe(3);
	});

	it("changes nothing of a run that has ended", () => {
		take({ type: "status", status: status({ state: "exited", exitCode: 0, duration: 2 }) });
		replica.setLink("gone", 5000);
		expect(replica.status.state).toBe("exited");
		expect(replica.elapsed(9000)).toBe(2);
	});
});

describe("an answer of the kernel", () => {
	it("closes a gap as a snapshot does", () => {
		take(replace(1, "a\n"), append(3, "c\n"), { type: "snapshot", snapshot: snapshot(3, "a\nb\nc\n") });
		expect(replica.behind).toBe(false);
		expect(drawn).toBe("a\nb\nc\n");
	});

	it("brings the end that was lost", () => {
		take(replace(1, "a\n"), { type: "snapshot", snapshot: snapshot(2, "a\nb\n", { state: "exited", exitCode: 0 }) });
		expect(replica.status.state).toBe("exited");
		expect(drawn).toBe("a\nb\n");
	});

	it("that there is nothing new changes nothing", () => {
		take(replace(1, "a\n"), { type: "current" });
		expect(replica.output).toEqual(view("a\n"));
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
