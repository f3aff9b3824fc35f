"""Drives a server with the Python client; each line of stdin is a step, each line of stdout what came of it."""
import json, sys
from concerto_client import Client, ConcertoError

client = Client(sys.argv[1], sys.argv[2])


def say(value):
    print(json.dumps(value), flush=True)


def story_approval():
    session = client.start("ship it", agent="approve")["id"]
    types = []
    for event in client.follow(session):
        types.append(event["type"])
        if event["type"] == "queryConsent":
            say({"asked": event["scope"], "open": [r["requestId"] for r in client.requests(session)]})
            client.answer(session, event["requestId"], True)
        if event["type"] == "turnComplete":
            client.cancel(session)
    say({"types": types, "status": client.session(session)["status"]})


def story_steer():
    session = client.start(sys.argv[4], agent="able")["id"]
    for event in client.follow(session):
        if event["type"] == "content":
            client.steer(session, "in English, please")
        if event["type"] == "message" and event["message"]["status"] == "delivered":
            say([event["message"]["content"], event["message"].get("how")])
            if event["message"].get("how") == "steer":
                client.interrupt(session)
        if event["type"] == "turnComplete":
            client.cancel(session)


def story_fork():
    session = client.start("first", assistant="echo")["id"]
    next(event for event in client.follow(session) if event["type"] == "turnComplete")
    fork = client.fork(session, prompt="second")
    said = [e["objective"]["parts"][0]["text"] for e in until_turns(fork["id"], 2) if e["type"] == "start"]
    say({"of": fork["forkOf"]["session"] == session, "said": said})


def until_turns(session, count):
    for event in client.follow(session):
        yield event
        count -= event["type"] == "turnComplete"
        if count == 0:
            return


def story_readme():
    """The lines of the README, as somebody copies them."""
    code = open(sys.argv[4], encoding="utf-8").read().split("```python\n")[1].split("```")[0]
    for theirs, ours in (("http://127.0.0.1:4242", sys.argv[1]), ("…", sys.argv[2]), ('"claude"', '"approve"')):
        code = code.replace(theirs, ours, 1)
    exec(code, {"input": lambda question: say({"question": question}) or "yes"})


def story_refusals():
    for attempt in (lambda: client.start("x", agent="nobody"), lambda: client.session("s/../x"),
                    lambda: Client(sys.argv[1], "wrong").sessions(), lambda: next(client.follow("nothing"))):
        try:
            attempt()
            say("no refusal")
        except ConcertoError as error:
            say({"code": error.code, "status": error.status})


def story_follow():
    """Prints the id, then every seq, while the server is killed and started again under it."""
    session = client.start("one", agent="turns")["id"]
    say(session)
    for event in client.follow(session):
        say([event["seq"], event["type"]])
        if event["type"] == "finish":
            return


globals()["story_" + sys.argv[3]]()
