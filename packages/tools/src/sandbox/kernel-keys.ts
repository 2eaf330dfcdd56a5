import { writeFileSync } from "node:fs";

/** By processor: the architecture's number, and the numbers of `add_key` and `keyctl`; `request_key` lies in between. */
const CALLS: Readonly<Record<string, readonly [architecture: number, first: number, last: number]>> = {
  x64: [0xc000003e, 248, 250],
  arm64: [0xc00000b7, 217, 219],
};

/**
 * Writes a system call filter that denies access to the kernel's keyrings. No namespace isolates keyrings, and they can
 * contain Kerberos tickets. Returns false on a processor whose call numbers are unknown. The sandbox runtime's own
 * filter ends calls of another architecture.
 */
export function writeKeyFilter(file: string): boolean {
  const calls = CALLS[process.arch];
  if (calls === undefined) return false;
  const [architecture, first, last] = calls;
  // Classic BPF, see `man 2 seccomp`: code, jump if true, jump if false, operand.
  const steps = [
    [0x20, 0, 0, 4], // Load the architecture.
    [0x15, 0, 4, architecture], // Allow calls of another architecture.
    [0x20, 0, 0, 0], // Load the number of the call.
    [0x35, 0, 2, first], // Allow lower numbers.
    [0x25, 1, 0, last], // Allow higher numbers.
    [0x06, 0, 0, 0x00050001], // Fail with EPERM.
    [0x06, 0, 0, 0x7fff0000], // Allow.
  ] as const;
  const rules = Buffer.alloc(steps.length * 8);
  for (const [index, [code, so, not, number]] of steps.entries()) {
    rules.writeUInt16LE(code, index * 8);
    rules.writeUInt8(so, index * 8 + 2);
    rules.writeUInt8(not, index * 8 + 3);
    rules.writeUInt32LE(number, index * 8 + 4);
  }
  writeFileSync(file, rules, { flag: "wx", mode: 0o600 });
  return true;
}
