import { parentPort, workerData } from "node:worker_threads";
import { htmlToMarkdown } from "./html-to-markdown.ts";
import type { PageSource } from "./read-html.ts";

/** The thread of one page. The thread may be ended at any moment. */

const { html, address } = workerData as PageSource;
parentPort?.postMessage(htmlToMarkdown(html, address));
