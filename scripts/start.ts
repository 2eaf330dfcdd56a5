// What `npm start` runs: the program, from its sources. The page is built first where it is wanted and not up to date.
const [command, ...rest] = process.argv.slice(2);
if (command === "serve" && !rest.includes("--help") && !rest.includes("-h")) {
  const { buildPage, isPageFresh } = await import("./page.ts");
  if (!isPageFresh()) {
    process.stderr.write("Building the page (once, a few seconds) ...\n");
    await buildPage();
  }
}
await import(new URL("../packages/cli/src/main.ts", import.meta.url).href);
