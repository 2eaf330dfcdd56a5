import { appendFileSync } from "node:fs";

/* A formatter that writes each line without spaces at its end. The first argument is JSON. */
const told = JSON.parse(process.argv[2] ?? "{}") as {
  /** A file that gets a line at each start. */
  readonly starts?: string;
  /** The formatter fails for texts with this word. */
  readonly failing?: string;
  readonly hostile?: "hangs" | "fails" | "floods" | "empties";
};
if (told.starts !== undefined) appendFileSync(told.starts, `${process.argv[3]}\n`);

let text = "";
for await (const piece of process.stdin.setEncoding("utf8")) text += piece;
switch (told.failing !== undefined && text.includes(told.failing) ? "fails" : told.hostile) {
  case "hangs":
    setInterval(() => {}, 1_000);
    break;
  case "fails":
    process.stdout.write("broken");
    process.stderr.write("no oak here\n");
    process.exitCode = 1;
    break;
  case "floods":
    while (process.stdout.writable)
      if (!process.stdout.write("x".repeat(65_536))) await new Promise((resolve) => setImmediate(resolve));
    break;
  case "empties":
    break;
  default:
    process.stdout.write(text.replaceAll(/ +$/gm, ""));
}
