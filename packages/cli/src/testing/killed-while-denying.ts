import type { Pty } from "./pty.ts";

/** A person has the agent ask something, begins to say why not, and their process is killed. */
export async function killedWhileDenying(pty: Pty, why: string): Promise<void> {
  await pty.prompted();
  pty.enter("go");
  await pty.asked();
  pty.press("n");
  await pty.until("Reason (optional):");
  pty.type(why);
  await pty.until(`Reason (optional): ${why}`);
  pty.kill("SIGKILL");
  await pty.until("[exit 137]");
}
