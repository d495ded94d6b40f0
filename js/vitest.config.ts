import { defineConfig } from "vitest/config";

/** Milliseconds. Tests with thousands of rounds take long on a busy machine; what hangs still ends. */
const testTimeout = 60_000;

export default defineConfig({
	test: {
		projects: [
			{ test: { name: "core", include: ["src/core/**/*.test.ts"], environment: "node", testTimeout } },
			{ test: { name: "dom", include: ["src/dom/**/*.test.ts"], environment: "happy-dom", testTimeout } },
		],
	},
});
