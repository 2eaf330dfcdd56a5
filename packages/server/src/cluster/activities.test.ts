import type { ConversationActivity } from "@banyan/desk/serving";
import { expect, test } from "vitest";
import { ActivityPublisher } from "./activities.ts";

test("a report that fails delays no other report, and comes with the conversation's next change", async () => {
  const told: [string, ConversationActivity][] = [];
  const defects: unknown[] = [];
  let isAway = true;
  const activities = new ActivityPublisher({
    activityOf: () => ({ running: 1, waiting: 0 }),
    defect: (error) => defects.push(error),
    shared: {
      async tell(conversation, activity) {
        if (isAway && conversation === "lost") throw new Error("The database is away.");
        told.push([conversation, activity]);
      },
    },
  });
  activities.changed("lost");
  activities.changed("other");
  await expect.poll(() => told).toEqual([["other", { running: 1, waiting: 0 }]]);
  expect(defects).toEqual([new Error("The database is away.")]);
  isAway = false;
  activities.changed("lost");
  activities.changed("other");
  await expect.poll(() => told.map(([conversation]) => conversation)).toEqual(["other", "lost"]);
});
