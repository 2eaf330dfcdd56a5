"""Talks with an agent on a Banyan server, with nothing but Python's standard library.

    BANYAN_TOKEN=... python3 banyan.py "What is in this folder?"

It shows what the agent says as it says it, asks you what the agent may do, and goes on after a lost connection.
Ctrl-C interrupts the agent. The protocol is docs/protocol.md.
"""

import http.client
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request

ADDRESS = os.environ.get("BANYAN_ADDRESS", "http://127.0.0.1:4180")
HEADERS = {"Authorization": "Bearer " + os.environ.get("BANYAN_TOKEN", "")}
LOST = (ConnectionError, http.client.HTTPException, TimeoutError, urllib.error.URLError)


def ask(kind, **given):
    """Carries out a command. It is sent again with the same id after a lost connection, and acts once all the same."""
    command = {"type": kind, "id": secrets.token_hex(13), **given}
    request = urllib.request.Request(
        ADDRESS + "/api/v1/commands", json.dumps(command).encode(), {**HEADERS, "Content-Type": "application/json"}
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            sys.exit(f"{kind}: {json.load(refused)['error']['message']}")
        except LOST:
            time.sleep(0.2)


def feed(conversation):
    """The items of a conversation's feed. After a lost connection it goes on behind the last frame that came."""
    place = "0.0.0"
    while True:
        address = f"{ADDRESS}/api/v1/conversations/{conversation}/feed?from={place}"
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=HEADERS), timeout=60) as stream:
                reached = place
                for line in stream:
                    field, _, value = line.decode().rstrip("\n").partition(": ")
                    if field == "id":
                        reached = value
                    elif field == "data":
                        frame = json.loads(value)
                        if frame["type"] == "ended":
                            sys.exit(frame["message"])
                        yield from frame.get("items", [])
                        place = reached
        except urllib.error.HTTPError as refused:
            sys.exit(json.load(refused)["error"]["message"])
        except LOST:
            pass
        time.sleep(0.2)


def units(text):
    """Text as the protocol counts it: in UTF-16 units, two bytes each."""
    return text.encode("utf-16-le", "surrogatepass")


class Voice:
    """What the agent has said, part by part."""

    def __init__(self):
        self.parts = {}

    def hear(self, delta):
        """Keeps a fragment and answers what of it is new: after a break it may say again what was heard."""
        place = delta["message"], delta["part"]
        heard, said = self.parts.get(place, b""), units(delta["text"])
        begins = 2 * delta.get("begins", len(heard) // 2)
        self.parts[place] = heard[:begins] + said
        return said[max(0, len(heard) - begins) :].decode("utf-16-le", "replace")


def decide(conversation, question, tool):
    """Asks the person whether a call may run."""
    answer = input(f"\nMay the agent run {tool}? [y/n] ").strip().lower()
    decision = {"decision": "allow"} if answer == "y" else {"decision": "deny", "reason": "The person said no."}
    ask("question.answer", conversation=conversation, question=question, answer=decision)


def main():
    conversation = ask("conversation.create")["conversation"]
    ask("turn.say", conversation=conversation, parts=[{"type": "text", "text": " ".join(sys.argv[1:]) or "Hello"}])
    items, voice = feed(conversation), Voice()
    while True:
        try:
            for item in items:
                kind = item["type"]
                if kind == "text.delta" and item["depth"] == 0:
                    print(voice.hear(item), end="", flush=True)
                elif kind == "message.completed":
                    print()
                elif kind == "call.approval-requested":
                    decide(conversation, item["question"], item.get("tool", "this"))
                elif kind == "run.ended" and item["reason"] != "finished":
                    return
        except KeyboardInterrupt:
            ask("run.interrupt", conversation=conversation)
            # The generator ended with the interruption; what it told stays heard.
            items = feed(conversation)


if __name__ == "__main__":
    main()
