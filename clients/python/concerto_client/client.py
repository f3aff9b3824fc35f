import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Dict, Iterator, List, Optional

Event = Dict[str, Any]
"""As the server sends it: `type`, the event's own fields, `seq` and `at`."""

CALL_TIMEOUT = 30.0
TRIES = 4
# Three of the server's pings: a connection that is quiet for longer is dead.
SILENCE = 45.0
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 10.0
LINE_MAX = 32 * 1024 * 1024
FINAL = ("completed", "failed", "cancelled")


class ConcertoError(Exception):
    """The server refused (`status`, `code`, `problem`), or could not be reached (`code` is `unreachable`)."""

    def __init__(self, code: str, message: str, status: Optional[int] = None, problem: Optional[dict] = None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.problem = problem or {}


class Client:
    """One server. Calls are tried again when the network fails, under one key, so that nothing is done twice."""

    def __init__(self, url: str, token: Optional[str] = None):
        self._url = url.rstrip("/")
        self._token = token

    def start(self, prompt: str, *, agent: Optional[str] = None, program: Optional[str] = None,
              assistant: Optional[str] = None, template: Optional[str] = None, **more: Any) -> dict:
        """A new session; `more` is what `POST /api/sessions` takes beside (title, once, ifFull, tools, ...)."""
        named = {"agent": agent, "program": program, "assistant": assistant, "template": template}
        target = {key: value for key, value in named.items() if value is not None}
        return self._call("POST", "/api/sessions", {**more, **target, "prompt": prompt})

    def session(self, session: str) -> dict:
        return self._call("GET", f"/api/sessions/{_part(session)}")

    def sessions(self, **query: Any) -> List[dict]:
        """Every session, the newest first, page by page."""
        found: List[dict] = []
        cursor: Optional[str] = None
        while True:
            asked = {**query, **({} if cursor is None else {"cursor": cursor})}
            page = self._call("GET", f"/api/sessions?{urllib.parse.urlencode(_words(asked))}")
            found += page["sessions"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found

    def send(self, session: str, content: str) -> dict:
        """Into the queue: the agent gets it when its turn is over."""
        return self._call("POST", f"/api/sessions/{_part(session)}/messages", {"content": content})

    def steer(self, session: str, content: str) -> dict:
        """Before everything that is queued, into the running turn where the agent can."""
        body = {"content": content, "priority": "immediate"}
        return self._call("POST", f"/api/sessions/{_part(session)}/messages", body)

    def fork(self, session: str, prompt: Optional[str] = None, at: Optional[int] = None) -> dict:
        """A new session with what was said in it, up to an event: whole turns; all of it unless given."""
        body = {key: value for key, value in {"prompt": prompt, "at": at}.items() if value is not None}
        return self._call("POST", f"/api/sessions/{_part(session)}/fork", body)

    def requests(self, session: str) -> List[dict]:
        """What waits for an answer."""
        return self._call("GET", f"/api/sessions/{_part(session)}/requests")["requests"]

    def answer(self, session: str, request: str, response: Any, reason: Optional[str] = None) -> Any:
        body = {"response": response, **({} if reason is None else {"reason": reason})}
        return self._call("POST", f"/api/sessions/{_part(session)}/requests/{_part(request)}", body)

    def interrupt(self, session: str) -> dict:
        return self._control(session, "interrupt")

    def pause(self, session: str) -> dict:
        return self._control(session, "pause")

    def resume(self, session: str) -> dict:
        return self._control(session, "resume")

    def cancel(self, session: str) -> dict:
        return self._control(session, "cancel")

    def follow(self, session: str, after: int = 0) -> Iterator[Event]:
        """Every event after a position, each once and in order, whatever happens to the connection; ends after `finish`."""
        cursor, failures = after, 0
        while True:
            before = cursor
            try:
                for event in self._read_stream(session, cursor):
                    # Nothing at or before the cursor is given twice.
                    if event["seq"] <= cursor:
                        continue
                    cursor = event["seq"]
                    yield event
                    if event["type"] == "finish":
                        return
                if cursor == before and self._is_over(session, cursor):
                    return
            except ConcertoError as error:
                if error.status is not None and error.status < 500 and error.status != 429:
                    raise
            except (OSError, http.client.HTTPException):
                pass  # Lost, or silent for too long: taken up again from the cursor.
            failures = failures + 1 if cursor == before else 1
            time.sleep(_pause(failures))

    def _control(self, session: str, verb: str) -> dict:
        return self._call("POST", f"/api/sessions/{_part(session)}/{verb}", {})

    def _is_over(self, session: str, cursor: int) -> bool:
        found = self.session(session)
        return found["status"] in FINAL and found["position"] <= cursor

    def _read_stream(self, session: str, after: int) -> Iterator[Event]:
        request = self._request("GET", f"/api/sessions/{_part(session)}/events?after={after}")
        request.add_header("accept", "text/event-stream")
        try:
            response = urllib.request.urlopen(request, timeout=SILENCE)
        except urllib.error.HTTPError as error:
            raise _refusal(error) from None
        with response:
            data: List[str] = []
            while True:
                raw = response.readline(LINE_MAX)
                if raw == b"":
                    return  # What has not been completed was never sent.
                if not raw.endswith(b"\n"):
                    raise ConcertoError("bad_answer", f"a line of the event stream is longer than {LINE_MAX} bytes")
                line = raw.decode("utf-8").rstrip("\r\n")
                if line == "":
                    if data:
                        yield json.loads("\n".join(data))
                    data = []
                elif line.startswith("data:"):
                    data.append(line[6:] if line.startswith("data: ") else line[5:])

    def _call(self, method: str, path: str, body: Optional[dict] = None) -> Any:
        key = None if method == "GET" else uuid.uuid4().hex
        for tries in range(1, TRIES + 1):
            request = self._request(method, path, body, key)
            try:
                with urllib.request.urlopen(request, timeout=CALL_TIMEOUT) as response:
                    text = response.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                refusal = _refusal(error)
                if error.code != 503 or tries == TRIES:
                    raise refusal from None
            except (OSError, http.client.HTTPException) as error:
                if tries == TRIES:
                    raise ConcertoError("unreachable", f"{method} {path}: the server cannot be reached: {error}") from error
            time.sleep(_pause(tries))

    def _request(self, method: str, path: str, body: Optional[dict] = None,
                 key: Optional[str] = None) -> urllib.request.Request:
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(self._url + path, data=data, method=method)
        if self._token is not None:
            request.add_header("authorization", f"Bearer {self._token}")
        if data is not None:
            request.add_header("content-type", "application/json")
        if key is not None:
            request.add_header("idempotency-key", key)
        return request


def _words(query: dict) -> dict:
    """True and False as the server has them."""
    return {key: str(value).lower() if isinstance(value, bool) else value for key, value in query.items()}


def _part(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _pause(failures: int) -> float:
    """Doubles from try to try, with a random half, so that many clients do not come back at the same instant."""
    full = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
    return full / 2 + random.random() * full / 2


def _refusal(error: urllib.error.HTTPError) -> ConcertoError:
    with error:
        try:
            problem = json.loads(error.read())
        except ValueError:
            problem = {}
    if not isinstance(problem, dict):
        problem = {}
    message = problem.get("detail") or problem.get("title") or f"the server answered {error.code} {error.reason}"
    return ConcertoError(problem.get("code", "bad_answer"), message, error.code, problem)
