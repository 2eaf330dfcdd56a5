import { isUserMessage, pathTo, textOf } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { type Action, ActionRefusal, conversationCommand, message } from "./action.ts";
import {
  countFrom,
  messageLine,
  messageNamed,
  messageNumbers,
  quoteForUser,
  readMessageOrEnd,
  readNamedMessage,
} from "./named-targets.ts";

export const messageActions: readonly Action[] = [
  {
    name: "label",
    arguments: "[#n] [text]",
    help: "Give a message or the end of this branch a name, or remove the name",
    needs: { right: "message.label" },
    read(argument, context) {
      const { message: named, number, rest } = readMessageOrEnd(context, argument);
      const text = visibleLine(rest).trim();
      if (text.length > 200) throw new ActionRefusal(context.say("A name has at most 200 characters."));
      return conversationCommand("message.label", { message: named.id, label: text === "" ? null : text }, () =>
        message(
          text === ""
            ? context.say("{number} has no name now.", { number })
            : context.say("{number} is named “{text}” now.", { number, text }),
        ),
      );
    },
  },
  {
    name: "star",
    arguments: "[#n]",
    help: "Star a message or the end of this branch, or remove its star",
    needs: { right: "message.star" },
    read(argument, context) {
      const { message: named, number, rest } = readMessageOrEnd(context, argument);
      if (rest !== "")
        throw new ActionRefusal(context.say("Give the number of one message, as in /{name} #1.", { name: "star" }));
      const starred = named.starred !== true;
      return conversationCommand("message.star", { message: named.id, starred }, () =>
        message(
          starred
            ? context.say("{number} has a star ★ now.", { number })
            : context.say("{number} has no star now.", { number }),
        ),
      );
    },
  },
  {
    name: "edit",
    arguments: "#n [text]",
    help: "Rephrase your message, or correct a summary, on a new branch",
    onPage: "Point at a message, or move to it with Tab, and choose “Edit message”.",
    needs: { right: "turn.retry", idle: "prompt" },
    read(argument, context) {
      const { say } = context;
      const { message: named, number, rest } = readNamedMessage(context, argument);
      if (named.role === "summary" && named.covers !== undefined) {
        if (rest === "")
          return {
            type: "view",
            view: "prompt",
            text: `/edit ${number} ${textOf(named)}`,
            help: say("Change the summary and send it. The old summary stays on its own branch."),
          };
        return conversationCommand("summary.edit", { message: named.id, text: rest }, (edited) => ({
          ...message(say("Your next message continues from the edited summary.")),
          goOn: { below: edited.message },
        }));
      }
      if (!isUserMessage(named))
        throw new ActionRefusal(say("{number} is not your message. /tree {number} goes on from it.", { number }));
      return rest === ""
        ? { type: "view", view: "go", message: named.id }
        : { type: "turn", turn: "retry", text: rest, at: named.id };
    },
  },
  {
    name: "remove",
    arguments: "#n",
    help: "Hide a message and all messages below it",
    onPage: "Point at a message, or move to it with Tab, and choose “Remove this message”.",
    needs: { right: "message.remove", idle: "prompt" },
    read(argument, context) {
      const { state, leaf, say } = context;
      const { message: named, number, rest } = readNamedMessage(context, argument);
      if (rest !== "")
        throw new ActionRefusal(say("Give the number of one message, as in /{name} #1.", { name: "remove" }));
      const wasHere = pathTo(state, leaf).some(({ id }) => id === named.id);
      const count = countFrom(state, named.id);
      return conversationCommand("message.remove", { message: named.id }, () => ({
        ...message(
          say.count(
            count,
            "Removed {count} message. /restore {number} brings it back.",
            "Removed {count} messages. /restore {number} brings them back.",
            { number },
          ),
        ),
        ...(wasHere && { goOn: "latest" as const }),
      }));
    },
  },
  {
    name: "restore",
    arguments: "[#n]",
    help: "Bring back messages that were removed",
    needs: { right: "message.restore", idle: "prompt" },
    read(argument, context) {
      const { state, say } = context;
      const removed = [...state.messages.values()].filter((each) => each.removed);
      const id = argument === "" ? undefined : messageNamed(state, argument);
      const wanted = argument === "" ? removed : removed.filter((each) => each.id === id);
      const [only] = wanted;
      if (removed.length === 0) return message(say("Nothing was removed."));
      if (!only)
        throw new ActionRefusal(
          say("{name} is not a removed message. /restore lists the removed messages.", {
            name: quoteForUser(argument),
          }),
        );
      // The state does not tell which message was removed last, so the user chooses.
      if (wanted.length > 1)
        return {
          ...message(...removed.map((each) => messageLine(context, each))),
          advice: say("/restore #n restores a message and all messages below."),
        };
      return conversationCommand("message.restore", { message: only.id }, () => {
        const number = `#${messageNumbers(state).get(only.id)}`;
        return message(
          say.count(
            countFrom(state, only.id),
            "Restored {count} message. /tree {number} continues from there.",
            "Restored {count} messages. /tree {number} continues from there.",
            { number },
          ),
        );
      });
    },
  },
];
