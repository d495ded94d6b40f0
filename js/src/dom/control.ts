/** The control channel as a way to kernels that hear nothing else while a cell runs. Twin of show/control.py. */

import type { Request } from "../core/answers";
import type { PanelMessage } from "../core/wire";
import { type PanelModel, report } from "./model";

const MESSAGE_TYPE = "boundcap_request";

/** As much of JupyterLab's kernel connection as is used; none of it is part of anywidget's contract. */
interface ControlKernel {
	readonly clientId?: string;
	readonly username?: string;
	/** Whether comm messages go to a subshell: false until the kernel has said that it has any. */
	readonly supportsSubshells?: boolean;
	sendControlMessage?(message: object, expectReply: boolean, disposeOnDone: boolean): unknown;
}

let sent = 0;

/** Sends a message to the kernel's side of the widget, by the way that a busy kernel hears if there is one. */
export function send(model: PanelModel, message: PanelMessage | Request): void {
	if (!sendByControl(model, message)) {
		model.send(message);
	}
}

/** False where a comm is heard as well, and where there is no other way. */
function sendByControl(model: PanelModel, message: PanelMessage | Request): boolean {
	const address = model.get("control_address");
	const kernel = (model.widget_manager as { kernel?: ControlKernel | null } | null | undefined)?.kernel;
	if (typeof address !== "string" || address === "" || typeof kernel?.sendControlMessage !== "function") {
		return false;
	}
	if (kernel.supportsSubshells ?? "id" in message) {
		// Of a host that does not tell, only what is small and urgent is sent by a way that not every host may have.
		return false;
	}
	sent += 1;
	const header = {
		msg_id: `${address}-${Date.now()}-${sent}`,
		msg_type: MESSAGE_TYPE,
		session: kernel.clientId ?? "",
		username: kernel.username ?? "",
		date: new Date().toISOString(),
		version: "5.3",
	};
	const content = { address, message };
	try {
		kernel.sendControlMessage(
			{ channel: "control", header, parent_header: {}, metadata: {}, content, buffers: [] },
			false,
			true,
		);
		return true;
	} catch (error) {
		report(error);
		return false;
	}
}
