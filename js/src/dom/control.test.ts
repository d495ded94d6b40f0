import { describe, expect, it, vi } from "vitest";
import { send } from "./control";
import type { PanelModel } from "./model";

const CHECK = { type: "check", seq: 3, running: true } as const;
const READ = { type: "result", id: 5 } as const;

function hostWith(supportsSubshells: boolean | undefined, address = "abc") {
	const byControl = vi.fn();
	const byComm = vi.fn();
	const model = {
		get: (name: string) => (name === "control_address" ? address : undefined),
		on() {},
		off() {},
		send: byComm,
		widget_manager: { kernel: { supportsSubshells, sendControlMessage: byControl } },
	} satisfies PanelModel;
	return { model, byControl, byComm };
}

describe("a message goes", () => {
	it("by the control channel while a page knows of no subshells", () => {
		const { model, byControl, byComm } = hostWith(false);
		for (const message of [CHECK, READ]) {
			send(model, message);
			expect(byControl.mock.lastCall?.[0].content).toEqual({ address: "abc", message });
		}
		expect(byComm).not.toHaveBeenCalled();
	});

	it("by the comm where that is heard, or where the kernel has no other way", () => {
		for (const { model, byControl, byComm } of [hostWith(true), hostWith(false, "")]) {
			send(model, READ);
			expect(byComm).toHaveBeenCalledWith(READ);
			expect(byControl).not.toHaveBeenCalled();
		}
	});

	it("by the comm in a host that does not tell, if it can be asked again", () => {
		const { model, byControl, byComm } = hostWith(undefined);
		send(model, CHECK);
		expect(byControl).toHaveBeenCalledOnce();
		send(model, READ);
		expect(byComm).toHaveBeenCalledWith(READ);
	});

	it("by the comm after all when the control channel fails", () => {
		const { model, byControl, byComm } = hostWith(false);
		const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
		byControl.mockImplementation(() => {
			throw new Error("Kernel is dead");
		});
		send(model, CHECK);
		expect(byComm).toHaveBeenCalledWith(CHECK);
		expect(warn).toHaveBeenCalledOnce();
	});
});
