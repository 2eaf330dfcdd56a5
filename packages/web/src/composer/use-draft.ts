import { type Dispatch, type SetStateAction, useEffect, useState } from "react";
import { keep, kept } from "../shell/kept.ts";

/** What a person has begun to write in a conversation; it is there again after a reload (W43). */
export function useDraft(conversation: string): readonly [string, Dispatch<SetStateAction<string>>] {
  const key = `draft ${conversation}`;
  const [text, setText] = useState(() => String(kept(key) ?? ""));
  useEffect(() => keep(key, text || undefined), [key, text]);
  return [text, setText];
}
