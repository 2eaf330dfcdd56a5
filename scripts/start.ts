// Runs `npm start`: the program from its sources. Builds the page first if it is needed and outdated.
const [command, ...rest] = process.argv.slice(2);
if (command === "serve" && !rest.includes("--help") && !rest.includes("-h")) {
  const { buildPage, isPageFresh } = await import("./page.ts");
  if (!isPageFresh()) {
    process.stderr.write("Building the page (once, a few seconds) ...\n");
    await buildPage();
  }
}
await import(new URL("../packages/cli/src/main.ts", import.meta.url).href);
