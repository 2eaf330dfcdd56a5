import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

class ExternalEditorError extends Error {
  override readonly name = "ExternalEditorError";
}

export function hasEditor({ VISUAL, EDITOR }: NodeJS.ProcessEnv): boolean {
  return Boolean(VISUAL || EDITOR);
}

/**
 * Lets the user edit a text in `$VISUAL` or `$EDITOR`, which needs the terminal until the editor ends. The file is
 * called `name`, so that the editor knows its language. Resolves with the saved text without its last line end. Rejects
 * with an error for the user.
 */
export async function editOutside(text: string, env: NodeJS.ProcessEnv, name = "message.md"): Promise<string> {
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw new ExternalEditorError("No editor is set. Set VISUAL or EDITOR, such as EDITOR=vim.");
  const folder = await mkdtemp(join(tmpdir(), "banyan-"));
  try {
    const file = join(folder, basename(name) || "message.md");
    await writeFile(file, text, { mode: 0o600 });
    await runs(editor, file, env);
    return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A shell runs the command, because the variable may hold arguments, as in `code --wait`. A program in the working
 * directory is never used (S16).
 */
async function runs(editor: string, file: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [{ spawn }, { pathWithout }] = await Promise.all([
    import("node:child_process"),
    import("@banyan/host/find-program"),
  ]);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const shell = process.platform === "win32" ? "sh" : "/bin/sh";
  const PATH = pathWithout([process.cwd()], env.PATH ?? "");
  const child = spawn(shell, ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit", env: { ...env, PATH } });
  child.once("error", (cause) =>
    reject(new ExternalEditorError(`${editor} cannot be started: ${cause.message}. Set another EDITOR.`, { cause })),
  );
  child.once("close", (code, signal) => {
    if (code === 0) resolve();
    else
      reject(new ExternalEditorError(`${editor} ended with ${signal ?? `exit code ${code}`}; your text is unchanged.`));
  });
  await promise;
}
