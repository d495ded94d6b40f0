/**
 * Where the reader is in a panel, to be kept when the panel moves within the page. A node that is taken out of the page
 * forgets how far it is scrolled, what of it is selected and which part of it has the focus.
 */

const AREA = ".boundcap-text";

type Restore = () => void;

/** Looks where the reader is now; what is returned takes the reader back there, once the panel stands elsewhere. */
export function placeIn(panel: HTMLElement): Restore {
	const restores = [...panel.querySelectorAll<HTMLElement>(AREA)].map(scrolledTo);
	restores.push(selectedIn(panel), focusedIn(panel));
	return () => {
		for (const restore of restores) {
			restore();
		}
	};
}

/** At the end, or at a line: heights of what is out of sight are guessed, and change when the panel moves. */
function scrolledTo(area: HTMLElement): Restore {
	const { scrollTop, scrollLeft } = area;
	if (area.classList.contains("boundcap-following")) {
		return () => {
			area.scrollTop = area.scrollHeight;
			area.scrollLeft = scrollLeft;
		};
	}
	const top = area.getBoundingClientRect().top;
	const line = lineBelow(area, top);
	const below = (line?.getBoundingClientRect().top ?? 0) - top;
	const align = () => {
		if (line?.isConnected) {
			area.scrollTop += line.getBoundingClientRect().top - area.getBoundingClientRect().top - below;
		}
	};
	return () => {
		area.scrollTop = scrollTop;
		area.scrollLeft = scrollLeft;
		align();
		// What the line stands in is laid out now that it is in sight.
		align();
	};
}

function lineBelow(area: HTMLElement, top: number): HTMLElement | null {
	const below = (node: Element) => node.getBoundingClientRect().bottom > top;
	// Chunk by chunk: to measure a line lays out its chunk.
	const chunk = [...area.querySelectorAll(".boundcap-chunk")].find(below);
	return [...(chunk?.querySelectorAll<HTMLElement>(".boundcap-line") ?? [])].find(below) ?? null;
}

function selectedIn(panel: HTMLElement): Restore {
	const { anchorNode, anchorOffset, focusNode, focusOffset } = document.getSelection() ?? {};
	if (!panel.contains(anchorNode ?? null) || !panel.contains(focusNode ?? null)) {
		return () => {};
	}
	return () => {
		if (anchorNode && focusNode && panel.contains(anchorNode) && panel.contains(focusNode)) {
			document.getSelection()?.setBaseAndExtent(anchorNode, anchorOffset ?? 0, focusNode, focusOffset ?? 0);
		}
	};
}

function focusedIn(panel: HTMLElement): Restore {
	const focused = document.activeElement;
	return () => {
		if (focused instanceof HTMLElement && panel.contains(focused)) {
			focused.focus({ preventScroll: true });
		}
	};
}
