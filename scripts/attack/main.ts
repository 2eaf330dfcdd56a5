import { all } from "./all.ts";
import { runAttacks } from "./run-attacks.ts";
import { table } from "./table.ts";

// npm run attack [S18 ...]

const wanted = process.argv.slice(2).map((rule) => rule.toUpperCase());
const unknown = wanted.filter((rule) => !all.has(rule));
if (unknown.length > 0) {
  console.error(`There are no attacks on ${unknown.join(", ")}; there are some on ${[...all.keys()].join(", ")}.`);
  process.exit(2);
}
const files = [...all].filter(([rule]) => wanted.length === 0 || wanted.includes(rule)).map(([, file]) => file);
let count = 0;
const tried = await runAttacks(files, {
  onTried({ rule, name, outcome }) {
    count += 1;
    if (process.stderr.isTTY)
      process.stderr.write(`\r\u001b[K${count} ${rule} ${name}`.slice(0, process.stderr.columns));
    if (outcome.type === "broken")
      process.stderr.write(`${process.stderr.isTTY ? "\r\u001b[K" : ""}${rule} BROKEN ${name}\n`);
  },
});
if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
console.log(table(tried));
process.exitCode = tried.some(({ outcome }) => outcome.type === "broken") ? 1 : 0;
