import { pathTo } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { type ReactNode, useEffect } from "react";
import { useConversation, useTree } from "../parts/conversation/use-conversation.ts";
import { useMay } from "../parts/page/use-may.ts";
import { useServerAnswer } from "../parts/page/use-server-answer.ts";
import { t, tCount } from "../parts/phrases/phrases.ts";
import { RecalledItems } from "../transcript/recalled-items.tsx";
import { messageBeginning } from "./tree/words.ts";
import { Scrolled } from "./work-panels.tsx";

// Panels for what the server's agents are equipped with: memory, hooks and MCP servers (W71).

type EquipmentReport = Result<"equipment.read">;

function useEquipment() {
  const { id: conversation } = useConversation();
  const mayAsk = useMay()("equipment.read");
  return useServerAnswer("equipment.read", mayAsk ? { conversation } : undefined);
}

function PanelNote({ children, problem }: { readonly children?: ReactNode; readonly problem?: string | undefined }) {
  if (problem !== undefined) return <p className="p-3 text-bad text-sm">{problem}</p>;
  return <p className="p-3 text-sm">{children ?? t("Reading …")}</p>;
}

const MEMORY: Readonly<Record<EquipmentReport["memory"], string>> = {
  on: t("Memory is on: this conversation is remembered, and related entries are recalled."),
  off: t("Memory is off for this conversation: nothing is remembered or recalled."),
  "not-agreed": t("Memory is off. Turn it on with /memory in a terminal."),
};

export function MemoryPanel({ leaf }: { readonly leaf: string | null }) {
  const conversation = useConversation();
  const tree = useTree();
  const { answer: known } = useEquipment();
  const path = tree ? pathTo(tree, leaf) : [];
  const unread = path.filter(({ id }) => conversation.outline(id) !== undefined).map(({ id }) => id);
  useEffect(() => conversation.read(unread), [conversation, unread]);
  const recalled = path.flatMap((message) =>
    message.role === "user" && message.recalled ? [{ id: message.id, items: message.recalled }] : [],
  );
  return (
    <Scrolled name={t("Memory")}>
      {known && <p>{MEMORY[known.memory]}</p>}
      {recalled.length === 0 && (
        <p className="text-soft">
          {unread.length > 0 ? t("Reading …") : t("No memories were recalled on this branch yet.")}
        </p>
      )}
      {tree &&
        recalled.map(({ id, items }) => (
          <div key={id}>
            <p dir="auto" className="truncate font-medium">
              {messageBeginning(conversation, tree, id)}
            </p>
            <RecalledItems message={id} items={items} />
          </div>
        ))}
    </Scrolled>
  );
}

export function HooksPanel() {
  const { answer: known, problem } = useEquipment();
  if (!known) return <PanelNote problem={problem} />;
  if (known.hooks.length === 0)
    return (
      <PanelNote>
        {t("No hooks. Add hooks to your settings under hooks, in the format of Claude Code and codex.")}
      </PanelNote>
    );
  return (
    <Scrolled name={t("Hooks")}>
      {known.hooks.map(({ file, isUsed, hooks }) => (
        <section key={file} aria-label={file} className="flex flex-col gap-1.5">
          <h3 className="break-all font-mono text-xs">{visibleLine(file)}</h3>
          {!isUsed && (
            <p className="text-warn text-xs">{t("These hooks do not run, because this project is not trusted.")}</p>
          )}
          <ul className="flex flex-col gap-1.5">
            {hooks.map(({ event, matcher, command }, index) => (
              <li key={index} className="rounded-lg border border-hair px-3 py-2">
                <p className="text-soft text-xs">
                  {event} · <code>{visibleLine(matcher)}</code>
                </p>
                {/* Show the whole command: a hidden part could be the important one. */}
                <code className="mt-1 block break-all text-xs">{visibleLine(command)}</code>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Scrolled>
  );
}

const STATUS: Readonly<Record<EquipmentReport["servers"][number]["status"], readonly [word: string, colour: string]>> =
  {
    ready: [t("ready"), "text-leaf"],
    connecting: [t("starting"), "text-soft"],
    failed: [t("failed"), "text-bad"],
    "needs-auth": [t("needs sign-in"), "text-warn"],
    disabled: [t("switched off"), "text-soft"],
  };

export function ServersPanel() {
  const { answer: known, problem } = useEquipment();
  if (!known) return <PanelNote problem={problem} />;
  if (known.servers.length === 0)
    return (
      <PanelNote>{t("No MCP servers. To add one, run banyan mcp add on the machine of the Banyan server.")}</PanelNote>
    );
  return (
    <Scrolled name={t("MCP servers")}>
      <ul className="flex flex-col gap-2">
        {known.servers.map(({ name, status, tools, reason }) => (
          <li key={name} className="rounded-lg border border-hair px-3 py-2">
            <p className="flex flex-wrap items-baseline gap-2">
              <span className="font-medium">{visibleLine(name)}</span>
              <span className={`text-xs ${STATUS[status][1]}`}>{STATUS[status][0]}</span>
              {tools !== undefined && (
                <span className="text-soft text-xs">{tCount(tools, "{count} tool", "{count} tools")}</span>
              )}
            </p>
            {reason !== undefined && <p className="mt-1 text-soft text-xs">{visibleLine(reason)}</p>}
          </li>
        ))}
      </ul>
    </Scrolled>
  );
}
