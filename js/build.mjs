// Bundles the panel: node build.mjs [--outdir DIR] [--stamp TEXT]
//
// The stamp is written at the head of panel.js; the build hook knows by it which sources the bundle was made from.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const { values } = parseArgs({
	options: {
		outdir: { type: "string", default: fileURLToPath(new URL("../boundcap_jupyter/static", import.meta.url)) },
		stamp: { type: "string", default: "" },
	},
});

await build({
	absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
	entryPoints: [
		{ in: "src/index.ts", out: "panel" },
		{ in: "src/dom/panel.css", out: "panel" },
	],
	outdir: values.outdir,
	bundle: true,
	minify: true,
	format: "esm",
	// The oldest browsers with content-visibility, which bounds the cost of a long text.
	target: ["chrome108", "firefox125", "safari18"],
	charset: "utf8",
	banner: values.stamp ? { js: `/* ${values.stamp} */` } : {},
	logLevel: "warning",
});
