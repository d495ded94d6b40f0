import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		projects: [
			{ test: { name: "core", include: ["src/core/**/*.test.ts"], environment: "node" } },
			{ test: { name: "dom", include: ["src/dom/**/*.test.ts"], environment: "happy-dom" } },
		],
	},
});
