import type { Pty } from "./pty.ts";

/** Lets the agent ask the user, types the beginning of a reason for a denial, and kills the process. */
export async function killedWhileDenying(pty: Pty, why: string): Promise<void> {
  await pty.prompted();
  pty.enter("go");
  await pty.asked();
  pty.press("n", "Enter");
  await pty.until("Reason (optional):");
  pty.type(why);
  await pty.until(`Reason (optional): ${why}`);
  pty.kill("SIGKILL");
  await pty.until("[exit 137]");
}
