import type { DayProgram } from "../program.ts";
import { banyan } from "./banyan.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";

/** The programs of the day, by their names among the peers. */
export const PROGRAMS_OF_A_DAY: Readonly<Record<string, DayProgram>> = { banyan, claude, codex, gemini, opencode, pi };
