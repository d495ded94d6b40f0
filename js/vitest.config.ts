import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		// Milliseconds. Tests with thousands of rounds take long on a busy machine; what hangs still ends.
		testTimeout: 60_000,
		projects: [
			{ test: { name: "core", include: ["src/core/**/*.test.ts"], environment: "node" } },
			{ test: { name: "dom", include: ["src/dom/**/*.test.ts"], environment: "happy-dom" } },
		],
	},
});
