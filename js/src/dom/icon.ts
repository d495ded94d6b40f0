/** Icons as strokes in the colour of the text round them: no font has the same signs everywhere. */

const SVG = "http://www.w3.org/2000/svg";

/** Paths in a square of 16. */
export const ICONS = {
	wrap: "M2 3.5h12M2 8h9.5a2.25 2.25 0 0 1 0 4.5H8m2-2-2 2 2 2M2 12.5h3",
	copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
	copied: "M3 8.5l3.5 3.5L13 4.5",
	failed: "M4 4l8 8M12 4l-8 8",
	taller: "M4 6l4-4 4 4M4 10l4 4 4-4",
	shorter: "M4 2l4 4 4-4M4 14l4-4 4 4",
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGElement {
	const svg = document.createElementNS(SVG, "svg");
	const path = document.createElementNS(SVG, "path");
	path.setAttribute("d", ICONS[name]);
	svg.setAttribute("viewBox", "0 0 16 16");
	svg.setAttribute("class", "boundcap-icon");
	svg.setAttribute("aria-hidden", "true");
	svg.append(path);
	return svg;
}

/** A button that is an icon; `label` is its name for whoever does not see it, and for the pointer that rests on it. */
export function iconButton(name: IconName, label: string): HTMLButtonElement {
	const button = document.createElement("button");
	button.type = "button";
	button.className = "boundcap-tool";
	setIcon(button, name, label);
	return button;
}

export function setIcon(button: HTMLElement, name: IconName, label: string): void {
	if (button.title !== label) {
		button.replaceChildren(icon(name));
		button.title = label;
		button.setAttribute("aria-label", label);
	}
}
