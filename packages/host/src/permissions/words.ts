/**
 * Rules are a language that people write (docs/security.md), and a rule names a tool. Three names mean more in it than the
 * tool that is called so: `shell(git log *)` speaks of commands, `read(**)` of whatever tells what is in a file, `write(**)`
 * of a file that a command opens to write. Tools are asked what they do, and not how they are called.
 */
export const COMMAND = "shell";
export const READING = "read";
export const WRITING = "write";
