"""An agent without an SDK: JSON objects on stdin and stdout, one a line. Python's standard library is enough."""

import json
import sys


def say(type, **fields):
    print(json.dumps({"type": type, **fields}), flush=True)


def hear():
    line = sys.stdin.readline()
    if line == "":
        sys.exit(0)  # Nobody is there any more.
    return json.loads(line)


def ask(type, **fields):
    say(type, **fields)
    while True:
        message = hear()
        if message["type"] == "response" and message.get("in_reply_to_id") == fields.get("id"):
            return message.get("value")  # None when nobody answered


FACTS = {
    "almanac": "Oslo was founded around 1040",
    "atlas": "Oslo lies at the end of a fjord",
    "archive": "Oslo was called Christiania until 1925",
}


def research(topic, sources):
    depth = ask("question", id="depth", question=f"How deep shall I look into {topic}?", options=["quick", "deep"])
    if depth == "deep" and ask("approval", id="archive", description="Open the archive", risk_level="low") == "yes":
        sources = sources + ["archive"]
    found = []
    for number, source in enumerate(sources, start=1):
        say("progress", message=f"reading the {source}", percent=100 * number // len(sources))
        # A session shows it as a call, with how it ended.
        say("tool_call", id=source, name="look_up", args={"source": source}, kind="read")
        found.append(FACTS[source])
        say("tool_result", id=source, content=FACTS[source])
    say("usage", input_tokens=10 * len(sources), output_tokens=len(found))
    say("result", text=". ".join(found) + ".", sources=sources)


sources = []
while True:
    message = hear()
    if message["type"] == "init":
        sources = message["params"]["sources"]
        unknown = [source for source in sources if source not in FACTS]
        if unknown:
            say("error", message=f"no such source: {', '.join(unknown)}")
            sys.exit(1)
        say("init_ack", version="1.0.0")
    elif message["type"] == "prompt":
        research(message["text"], sources)
