import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** Folders of a package with pages and programs, for developers and their coding agents. */
export const DOCS = ["docs", "examples"];

/** Copies the pages of `docs/` and the programs of `examples/` into a package. */
export function copyDocs(root: string, dist: string): void {
  const isTest = (file: string) => /\.(test|fixture)\.ts$/.test(file);
  const found = globSync(["docs/*.md", "examples/{src,ports}/**/*.ts"], { cwd: root, exclude: isTest });
  const files = new Set(found.map((file) => file.replaceAll("\\", "/")));
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    writeFileSync(join(dist, file), file.endsWith(".md") ? withoutDeadLinks(text, files) : text);
  }
}

/** Replaces pictures, and links to files that the package lacks, by their texts. Code stays as it is. */
function withoutDeadLinks(page: string, files: ReadonlySet<string>): string {
  const pieces = page.split(/^(```[\s\S]*?^```$)/m);
  const withoutDead = (piece: string) =>
    piece.replace(/!?\[((?:[^\]`]|`[^`]*`)*)\]\(([^\s)]+)\)/g, (link, text: string, target: string) => {
      const [path = ""] = target.split("#");
      return path === "" || /^\w+:/.test(path) || files.has(posix.join("docs", path)) ? link : text;
    });
  return pieces.map((piece, index) => (index % 2 === 0 ? withoutDead(piece) : piece)).join("");
}
