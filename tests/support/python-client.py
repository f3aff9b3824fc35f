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
