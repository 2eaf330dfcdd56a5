import { describe, expect, it } from "vitest";
import { chromiumPath, whyNot } from "./testing/chromium.fixture.ts";
import { PATIENT, site } from "./testing/site.fixture.ts";

describe.runIf(chromiumPath)(`conversations of programs on the page${whyNot}`, PATIENT, () => {
  const here = site();

  it("W89: the list leaves them out, also after a reload and one that begins meanwhile, and a button shows them", async () => {
    const program = async (text: string) => {
      const { conversation } = await here.ask("conversation.create", { program: "streamed" });
      await here.ask("turn.say", { conversation, parts: [{ type: "text", text }] });
    };
    await here.conversation("Mine is here");
    await program("A program asked this");
    const { page, complaints } = await here.open("/");
    const list = page.getByRole("region", { name: "All conversations" });
    const shown = (text: string) => list.getByText(text).count();
    await list.getByText("Mine is here").waitFor();
    expect(await shown("A program asked this")).toBe(0);
    await program("Another program asked that");
    await page.getByRole("button", { name: "2 conversations from programs" }).click();
    await list.getByText("A program asked this").waitFor();
    expect([await shown("Another program asked that"), await shown("Mine is here")]).toEqual([1, 1]);
    await page.reload();
    await list.getByText("Mine is here").waitFor();
    expect(await shown("A program asked this")).toBe(0);
    expect(complaints).toEqual([]);
  });
});
