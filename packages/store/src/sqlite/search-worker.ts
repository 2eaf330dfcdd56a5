import { parentPort, workerData } from "node:worker_threads";
import { type FromSearchThread, SearchTasks, type ToSearchThread } from "./search-tasks.ts";

const tasks = new SearchTasks(workerData as string);

function post(message: FromSearchThread): void {
  parentPort?.postMessage(message);
}

parentPort?.on("message", async ({ number, task }: ToSearchThread) => {
  if (task === "cancel") tasks.cancel(number);
  else post({ number, reply: await tasks.replyTo(number, task) });
});
post("started");
