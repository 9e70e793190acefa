#!/usr/bin/env python3
"""relay.py - stands where the server is, reads every frame between it and its parties, and spoils one of them.

    relay.py LISTEN UPSTREAM NAME WAY TYPE HOW [ARGUMENT]

It has the server's certificate towards the parties and the parties' certificates towards the server (files NAME.pem in
the working folder), so it is a dishonest server, or a dishonest party, as WAY says: down to party NAME, up from it.
HOW is done to the first frame of TYPE on that way; "spoiled" is printed when it was.  Ends by itself after a minute.
"""

import json
import os
import socket
import ssl
import struct
import sys
import threading

HEADER = 24


def context(side, name):
    made = ssl.SSLContext(side)
    made.load_cert_chain(name + ".pem", name + ".key")
    made.load_verify_locations("authority.pem")
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def exactly(source, count):
    got = b""
    while len(got) < count:
        more = source.recv(count - len(got))
        if not more:
            raise EOFError
        got += more
    return got


def frame(head, body, kind=None, number=None, length=None, magic=None):
    old_magic, old_kind, role, old_number, _ = struct.unpack("<4sHHQQ", head)
    return struct.pack("<4sHHQQ", magic or old_magic, old_kind if kind is None else kind, role,
                       old_number if number is None else number, len(body) if length is None else length) + body


def edited(body, text):
    """KEY=VALUE in a JSON body; KEY may be a path a.0.b."""
    path, value = text.split("=", 1)
    root = at = json.loads(body)
    *way, last = path.split(".")
    for key in way:
        at = at[int(key)] if isinstance(at, list) else at[key]
    at[int(last) if isinstance(at, list) else last] = json.loads(value)
    return json.dumps(root).encode()


def spoil(head, body, how, argument):
    """The bytes that go on instead of the frame; None: the connection ends here."""
    number = struct.unpack("<Q", head[8:16])[0]
    if how == "type":
        return frame(head, body, kind=int(argument))
    if how == "number":
        return frame(head, body, number=number + 1)
    if how == "magic":
        return frame(head, body, magic=b"GET ")
    if how == "shorter":
        return frame(head, body[:-8])
    if how == "longer":
        return frame(head, body + bytes(8))
    if how == "huge":
        return frame(head, body, length=1 << 62)
    if how == "body":
        return frame(head, argument.encode())
    if how == "reals":
        return frame(head, struct.pack("<d", float(argument)) * (len(body) // 8))
    if how == "twice":
        return (head + body) * 2
    if how == "set":
        return frame(head, edited(body, argument))
    if how == "failure":
        return frame(head, argument.encode().decode("unicode_escape").encode("latin-1"), kind=0xfffe)
    if how == "cut":
        return None
    raise SystemExit("relay.py: unknown " + how)


def carry(source, sink, target):
    """target: (type, how, argument) or None."""
    try:
        while True:
            head = exactly(source, HEADER)
            kind, length = struct.unpack("<H", head[4:6])[0], struct.unpack("<Q", head[16:24])[0]
            body = exactly(source, length)
            out = head + body
            if target and kind == target[0]:
                out = spoil(head, body, target[1], target[2])
                target = None
                print("spoiled", flush=True)
                if out is None:
                    break
            sink.sendall(out)
    except (EOFError, OSError):
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    listen, upstream, victim, way, kind, how = sys.argv[1:7]
    argument = sys.argv[7] if len(sys.argv) > 7 else ""
    threading.Timer(60, lambda: os._exit(0)).start()
    listener = socket.create_server(("127.0.0.1", int(listen)))
    print("ready", flush=True)
    while True:
        try:
            party = context(ssl.PROTOCOL_TLS_SERVER, "server").wrap_socket(listener.accept()[0], server_side=True)
            name = dict(pair[0] for pair in party.getpeercert()["subject"])["commonName"]
            server = context(ssl.PROTOCOL_TLS_CLIENT, name).wrap_socket(socket.create_connection(("127.0.0.1", int(upstream))))
        except OSError:
            continue
        target = (int(kind), how, argument) if name == victim else None
        threading.Thread(target=carry, args=(server, party, target if way == "down" else None), daemon=True).start()
        threading.Thread(target=carry, args=(party, server, target if way == "up" else None), daemon=True).start()


main()
