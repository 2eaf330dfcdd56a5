import { writeFileSync } from "node:fs";

/** Per processor: how the kernel calls it, and the first and the last of `add_key`, `request_key` and `keyctl`, which follow one another. */
const CALLS: Readonly<Record<string, readonly [architecture: number, first: number, last: number]>> = {
  x64: [0xc000003e, 248, 250],
  arm64: [0xc00000b7, 217, 219],
};

/**
 * Writes the rules of a system call filter that refuses the keys which the kernel keeps for a session or a user: no namespace
 * closes them, and tickets of Kerberos are among them. Returns false where these calls are not known. Calls of another
 * architecture than the processor's are ended by the filter of the runtime.
 */
export function writeKeyFilter(file: string): boolean {
  const calls = CALLS[process.arch];
  if (calls === undefined) return false;
  const [architecture, first, last] = calls;
  // Classic BPF, as `man 2 seccomp` has it: what to do, where to go on if so and if not, and a number.
  const steps = [
    [0x20, 0, 0, 4], // The architecture:
    [0x15, 0, 4, architecture], // another one is allowed here.
    [0x20, 0, 0, 0], // The number of the call:
    [0x35, 0, 2, first], // below,
    [0x25, 1, 0, last], // or above, is allowed.
    [0x06, 0, 0, 0x00050001], // EPERM.
    [0x06, 0, 0, 0x7fff0000], // Allowed.
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
