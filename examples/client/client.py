"""A client of `parallax open`: asks questions over HTTP. docs/protocol.md says what goes to and fro."""

import json
import struct
import sys
import urllib.request


class Engine:
    """The server at an address with its token, as `parallax open --json` prints them."""

    def __init__(self, url, token):
        self.address = url.split("?")[0].split("#")[0].rstrip("/") + "/api/ask"
        self.token = token

    def ask(self, name, **fields):
        """The reply to a question, and its tables by name, as the bytes of Arrow IPC streams."""
        question = json.dumps({"ask": name, "with": fields}).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.address, question, headers)
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
        at = 0
        while True:
            kind, length = struct.unpack_from("<cI", body, at)
            at += 5
            if kind == b"R":
                return unpacked(body[at:])
            if kind == b"E":
                error = json.loads(body[at : at + length])
                raise RuntimeError(f"{error['message']}; {error['hint'] or ''}")
            at += length  # progress


def unpacked(frame):
    """A frame: the length of its head, the head as JSON, and tables that begin at multiples of 8."""
    (length,) = struct.unpack_from("<I", frame)
    head = json.loads(frame[4 : 4 + length])
    tables, at = {}, 4 + length
    for table in head["tables"]:
        at = (at + 7) // 8 * 8
        tables[table["name"]] = frame[at : at + table["bytes"]]
        at += table["bytes"]
    return head["reply"], tables


if __name__ == "__main__":
    engine = Engine(sys.argv[1], sys.argv[2])
    roots = engine.ask("hello")[0]["roots"]
    for item in engine.ask("open", root=roots[0]["key"])[0]["items"]:
        info, tables = engine.ask("info", item=item["item"])
        print(f"{info['title']}: {info['contexts']} contexts, {info['locations']} locations")
        for name, arrow in tables.items():  # pyarrow.ipc.open_stream(arrow).read_all() is the table
            print(f"table {name}: {len(arrow)} bytes")
