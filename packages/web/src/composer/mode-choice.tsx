import { Select } from "../design/field.tsx";

/** How a turn is taken: a chat ends when the model calls nothing more, a task when the model says that it is done. */
export type Mode = "chat" | "task";

/** Chat or task, chosen before something is said (W65). */
export function ModeChoice({ mode, onChange }: { readonly mode: Mode; onChange(mode: Mode): void }) {
  return (
    <Select
      isSmall
      isQuiet
      aria-label="Mode"
      title="A chat ends with an answer, a task when it is done"
      value={mode}
      onChange={({ target }) => onChange(target.value as Mode)}
    >
      <option value="chat">Chat</option>
      <option value="task">Task</option>
    </Select>
  );
}
