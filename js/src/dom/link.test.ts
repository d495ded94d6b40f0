import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { metadata, status, view } from "../core/examples";
import define from "../index";
import { downloadName } from "./keeper";

const ESC = "\u001b";
const PATH = "~/.cache/boundcap/20260101-0000/0001/output.log";

type Listener = (...values: never[]) => void;

let listeners: Map<string, Set<Listener>>;
let sent: { type: string; id: number; [name: string]: unknown }[];
let widget: ReturnType<typeof define>;
let el: HTMLElement;
let endPanel: () => void;
let endRun: () => void;

beforeEach(() => {
	vi.useFakeTimers();
	listeners = new Map();
	sent = [];
	const facts = metadata(
		{ spillPath: PATH, spillState: "complete", spillBytes: 5000, omittedBytes: 4000, omittedLines: 400 },
		{ truncated: true, totalLines: 500, outputLines: 100 },
	);
	const traits: Record<string, unknown> = {
		snapshot: {
			seq: 1,
			output: view("new\n", facts),
			stderr: null,
			status: status({ state: "exited", exitCode: 0 }),
			quiet: 0,
		},
		command: "make",
	};
	const model = {
		get: (name: string) => traits[name],
		on: (event: string, listener: Listener) =>
			void listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
		off: (event: string, listener: Listener) => void listeners.get(event)?.delete(listener),
		send: (message: never) => void sent.push(message),
	};
	widget = define();
	endRun = widget.initialize({ model });
	el = document.createElement("div");
	document.body.append(el);
	endPanel = widget.render({ el });
});

afterEach(() => {
	document.body.replaceChildren();
	vi.useRealTimers();
	vi.restoreAllMocks();
	vi.unstubAllGlobals();
});

const find = <T extends HTMLElement = HTMLButtonElement>(name: string) => el.querySelector(`.boundcap-${name}`) as T;
const emit = (event: string, ...values: unknown[]) => {
	for (const listener of listeners.get(event) ?? []) {
		(listener as (...values: unknown[]) => void)(...values);
	}
	frame();
};
const answer = (content: object, ...buffers: Uint8Array[]) =>
	emit("msg:custom", { id: sent.at(-1)?.id, ...content }, buffers);
const frame = () => vi.advanceTimersByTime(300);
const page = (size: number, ...bytes: number[]) =>
	answer({ type: "page", size, length: bytes.length, base64: null }, new Uint8Array(bytes));
const older = (begins: number, text: string, leadSgr = "") =>
	answer({ type: "older", begins, lines: text.split("\n").length - 1, newlines: 1, text, leadSgr });

describe("Download", () => {
	it("shows how far it is, saves the file under a name that says which run it is of, and says so", async () => {
		const saved: [string, Blob][] = [];
		let blob = new Blob();
		vi.stubGlobal("URL", {
			createObjectURL: (made: Blob) => {
				blob = made;
				return "blob:1";
			},
			revokeObjectURL: vi.fn(),
		});
		vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
			saved.push([this.download, blob]);
		});
		find("download").click();
		frame();
		expect(find("download").hidden).toBe(true);
		expect(find<HTMLProgressElement>("progress").hasAttribute("value")).toBe(false);
		page(5, 1, 2, 3);
		expect(find<HTMLProgressElement>("progress").value).toBe(3);
		expect(find("download-running").textContent).toContain("3 of 5 B");
		page(5, 4, 5);
		expect(saved.map(([name]) => name)).toEqual(["20260101-0000-0001-output.log"]);
		expect([...new Uint8Array((await saved[0]?.[1].arrayBuffer()) ?? [])]).toEqual([1, 2, 3, 4, 5]);
		expect(find("note").textContent).toBe("downloaded 5 B");
		expect(document.querySelector("a[download]")).toBeNull();
		vi.advanceTimersByTime(60_000);
		expect(URL.revokeObjectURL).toHaveBeenCalledWith("blob:1");
	});

	it("is cancelled", () => {
		find("download").click();
		page(5, 1, 2, 3);
		find("cancel").click();
		frame();
		expect(find("download").hidden).toBe(false);
		expect(find("download-running").hidden).toBe(true);
	});

	it("goes on when its panel is gone, and is seen by a later one", () => {
		find("download").click();
		endPanel();
		page(5, 1, 2, 3);
		expect(sent).toHaveLength(2);
		widget.render({ el });
		expect(find("download-running").hidden).toBe(false);
	});

	it("says why it failed", () => {
		find("download").click();
		answer({ type: "refused", reason: "the file was replaced by another one", retry: false });
		expect(find("note").textContent).toBe("download failed: the file was replaced by another one");
	});
});

describe("Show more", () => {
	it("puts older lines above the text, in their colours, and nothing of them is markup", () => {
		find("show-more").click();
		frame();
		expect(find("show-more").disabled).toBe(true);
		older(2000, `<b>c</b>${ESC}[0m\n`, `${ESC}[31m`);
		expect(find("text").textContent).toBe("<b>c</b>\nnew\n");
		expect(el.querySelector("b")).toBeNull();
		expect(find("older-block").querySelector("span")?.style.color).not.toBe("");
		find("show-more").click();
		older(0, "a\nb\n");
		expect(find("text").textContent).toBe("a\nb\n<b>c</b>\nnew\n");
		expect(find("note").textContent).toBe("3 older lines above");
		expect(find("show-more").hidden).toBe(true);
	});

	it("marks what has left the view since", () => {
		find("show-more").click();
		older(2000, "c\n");
		const facts = metadata(
			{ spillPath: PATH, spillState: "complete", omittedBytes: 4100, omittedLines: 410 },
			{ truncated: true },
		);
		const update = { kind: "replace", output: view("newer\n", facts) };
		emit("msg:custom", { type: "update", seq: 2, stream: "output", update }, []);
		expect(find("text").textContent).toBe("c\n… 10 lines, 100 B not shown …newer\n");
	});
});

describe("the path", () => {
	it.each([
		["by the clipboard", { writeText: () => Promise.resolve() }, false, "Copied"],
		["by a selection where there is no clipboard", undefined, true, "Copied"],
		["not at all where nothing works", undefined, false, "Not copied"],
	])("is copied %s", async (_, clipboard, selection, said) => {
		vi.stubGlobal("navigator", { clipboard });
		document.execCommand = () => selection;
		find("copy-path").click();
		await vi.advanceTimersByTimeAsync(0);
		expect(find("copy-path").textContent).toBe(said);
		await vi.advanceTimersByTimeAsync(2000);
		expect(find("copy-path").textContent).toBe("Copy path");
	});

	it("gives a download a name that no file system minds", () => {
		expect(downloadName("~/.cache/boundcap/s/1/output.log")).toBe("s-1-output.log");
		expect(downloadName("/a/../b c/<i>/é.log")).toBe("b_c-_i_-_.log");
		expect(downloadName("")).toBe("output.log");
	});
});

describe("a kernel", () => {
	it.each(["comm_live_update", "comm:close"])(
		"that is gone (%s) takes the buttons with it, and the path stays",
		(event) => {
			find("download").click();
			emit(event);
			expect(find("note").textContent).toBe("the kernel that ran this is gone: the file is still where its path says");
			expect([find("download").disabled, find("show-more").disabled, find("copy-path").disabled]).toEqual([
				true,
				true,
				false,
			]);
			expect(find("spill").textContent).toBe(PATH);
		},
	);

	it("that is busy is waited for", () => {
		find("download").click();
		vi.advanceTimersByTime(5000);
		frame();
		expect(find("note").textContent).toBe("waiting for the kernel, which is busy or away…");
		page(1, 1);
		expect(find("note").textContent).toBe("downloaded 1 B");
	});
});

it("all of it ends with the run", () => {
	find("download").click();
	find("show-more").click();
	endPanel();
	endRun();
	expect(vi.getTimerCount()).toBe(0);
	expect([...listeners.values()].every((set) => set.size === 0)).toBe(true);
});
