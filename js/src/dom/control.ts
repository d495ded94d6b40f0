/** The control channel as a way for Stop, to kernels that hear nothing else while a cell runs. Twin of show/control.py. */

import { type PanelModel, report } from "./model";

const MESSAGE_TYPE = "boundcap_stop_request";

/** As much of JupyterLab's kernel connection as is used; none of it is part of anywidget's contract. */
interface ControlKernel {
	readonly clientId?: string;
	readonly username?: string;
	sendControlMessage?(message: object, expectReply: boolean, disposeOnDone: boolean): unknown;
}

/** False where the kernel needs no such way, or the host has none. */
export function stopByControl(model: PanelModel): boolean {
	const address = model.get("control_address");
	const kernel = (model.widget_manager as { kernel?: ControlKernel | null } | null | undefined)?.kernel;
	if (typeof address !== "string" || address === "" || typeof kernel?.sendControlMessage !== "function") {
		return false;
	}
	const header = {
		msg_id: `${address}-${Date.now()}`,
		msg_type: MESSAGE_TYPE,
		session: kernel.clientId ?? "",
		username: kernel.username ?? "",
		date: new Date().toISOString(),
		version: "5.3",
	};
	const message = { channel: "control", header, parent_header: {}, metadata: {}, content: { address }, buffers: [] };
	try {
		kernel.sendControlMessage(message, false, true);
		return true;
	} catch (error) {
		report(error);
		return false;
	}
}
