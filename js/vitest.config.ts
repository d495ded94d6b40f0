import { defineConfig } from "vitest/config";

// Milliseconds. A test that hangs fails; one on a busy machine does not.
const testTimeout = 60_000;

export default defineConfig({
	test: {
		projects: [
			{ test: { name: "core", include: ["src/core/**/*.test.ts"], environment: "node", testTimeout } },
			{ test: { name: "dom", include: ["src/dom/**/*.test.ts"], environment: "happy-dom", testTimeout } },
		],
	},
});
