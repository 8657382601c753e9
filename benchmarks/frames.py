"""Frames that no browser sends, mutated and huge: the others must be served, and the log must hold no fault of ours."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Kind
from google.protobuf.message import DecodeError, Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.sync.client import connect

from benchmarks.floods import beside
from benchmarks.load import warmed
from benchmarks.outcome import Outcome
from benchmarks.served import Server
from benchmarks.visitors import REFUSALS, Visitor, joined, left

Bytes = Callable[[random.Random, bytes], bytes]

TEXTS = ("", "\x00", "é" * 300, "../../etc/passwd", "<script>alert(1)</script>", "null", "9" * 400, "v=1&seed=%00%ff")
NUMBERS = (0.0, -1.0, 1e308, -1e308, float("nan"), float("inf"), 0.1, 2.0**63)
WHOLE = (0, 1, 7, 2**31 - 1)


def flipped(rng: random.Random, frame: bytes) -> bytes:
    """Return the message with a few bits flipped."""
    changed = bytearray(frame)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(rng: random.Random, frame: bytes) -> bytes:
    return frame[: rng.randrange(len(frame))]


def doubled(rng: random.Random, frame: bytes) -> bytes:
    """Return the message with a piece of it twice."""
    first, last = sorted(rng.randrange(len(frame) + 1) for _ in range(2))
    return frame[:last] + frame[first:last] + frame[last:]


def stuffed(rng: random.Random, frame: bytes) -> bytes:
    at = rng.randrange(len(frame) + 1)
    return frame[:at] + rng.randbytes(rng.randint(1, 40)) + frame[at:]


def rewritten(rng: random.Random, frame: bytes) -> bytes:
    """Return a message that can be read, with some of its fields set to what no browser puts there."""
    message = BackMsg.FromString(frame)
    for _ in range(rng.randint(1, 4)):
        scramble(rng, message, 5)
    return message.SerializeToString()


def scramble(rng: random.Random, message: Message, depth: int) -> None:
    """Set one field, of any kind, to something odd; goes into the messages within."""
    fields = message.DESCRIPTOR.fields
    (field,) = rng.choices(fields, [5 if field.type == Kind.TYPE_MESSAGE else 1 for field in fields])
    value = getattr(message, field.name)
    if field.type == Kind.TYPE_MESSAGE:
        inner = value.add() if field.is_repeated and not len(value) else (value[0] if field.is_repeated else value)
        inner.SetInParent()
        if depth and inner.DESCRIPTOR.fields:
            scramble(rng, inner, depth - 1)
    elif field.is_repeated:
        value.extend(odd(rng, field) for _ in range(rng.choice((1, 3, 2000))))
    else:
        setattr(message, field.name, odd(rng, field))


def odd(rng: random.Random, field: Any) -> Any:
    """Return a value that the field can hold and no browser gives it."""
    match field.cpp_type:
        case Kind.CPPTYPE_STRING:
            text = rng.choice(TEXTS)
            return text.encode() if field.type == Kind.TYPE_BYTES else text
        case Kind.CPPTYPE_DOUBLE | Kind.CPPTYPE_FLOAT:
            return rng.choice(NUMBERS)
        case Kind.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case Kind.CPPTYPE_ENUM:
            return rng.choice(field.enum_type.values).number
    return rng.choice(WHOLE)


MUTATIONS: tuple[Bytes, ...] = (flipped, cut, doubled, stuffed, rewritten, rewritten, rewritten, rewritten)


def mutations(seed: int, frame: bytes) -> Iterator[bytes]:
    """Mutated frames without end, the same ones for a seed and a frame; about half of them can be read."""
    rng = random.Random(seed)  # noqa: S311 - which frames are tried is no secret
    while True:
        yield rng.choice(MUTATIONS)(rng, frame)


def closed(error: Exception) -> str:
    """Return the code with which a socket was closed, or what else went wrong with it."""
    code = getattr(getattr(error, "rcvd", None), "code", None)
    return f"closed with {code}" if code else f"closed: {type(error).__name__}"


def readable(frame: bytes) -> bool:
    try:
        return bool(BackMsg.FromString(frame).WhichOneof("type"))
    except DecodeError:
        return False


def tracebacks(log: str) -> tuple[Counter[str], Counter[str]]:
    """Return the last lines of the tracebacks in a log: Streamlit's own refusals, and all the others.

    A refusal is raised in Streamlit's code, or in Python's own that it called, and not by way of ours.
    """
    refusals, others = Counter[str](), Counter[str]()
    for frames, message in re.findall(r"Traceback \(most recent call last\):\n((?:[ |+].*\n|\n)*)(\S.*)", log):
        calls = re.findall(r'File "(\S+/(?:streamlit|attnviz)/[^"]+)", line (\d+)', frames)
        file, line = calls[-1] if calls else ("", "")
        refuses = "/streamlit/" in file and not message.startswith("streamlit.")  # its own class: misuse by us
        (refusals if refuses else others)[f"{message} ({Path(file).name}:{line})"] += 1
    return refusals, others


async def attacked(server: Server, seed: int, frames: int, counts: Counter[str]) -> None:
    """Send mutated frames of an open page; a socket that the server closes is opened anew."""
    visitor: Visitor | None = None
    opened = 0
    for _ in range(frames):
        try:
            if visitor is None:
                visitor = await joined(server.url)
                await visitor.open(1 + seed)
                visitor.kept.clear()  # else most of a frame, and so most mutations, would be names of what it keeps
                source = mutations(seed + 1000 * opened, visitor.frame(2 + seed))
                opened += 1
            frame = next(source)
            counts["readable" if readable(frame) else "unreadable"] += 1
            await visitor.socket.send(frame)
            with suppress(TimeoutError):
                while True:  # whatever it answers, until it says no more
                    await asyncio.wait_for(visitor.socket.recv(), 0.2)
        except REFUSALS as error:
            counts[closed(error)] += 1
            visitor = None
    counts["opened"] += opened
    if visitor:
        await left([visitor])


async def mutated(server: Server, frames: int, at_once: int, rest: float) -> Outcome:
    """Thousands of mutated frames from several sockets."""
    await warmed(server)
    out = Outcome()

    async def trouble() -> str:
        counts: Counter[str] = Counter()
        await asyncio.gather(*(attacked(server, seed, frames // at_once, counts) for seed in range(at_once)))
        return ", ".join(f"{counts[name]} {name}" for name in sorted(counts))

    await beside(server, out, trouble, f"{frames:,} mutated frames", rest)
    refusals, errors = tracebacks(server.log.read_text("utf-8", "replace") if server.log else "")
    out.wrong += [f"{count} × {fault}" for fault, count in errors.items()]
    said = f"{sum(errors.values())}; {sum(refusals.values())} refusals"
    out.row("Tracebacks in the log but for Streamlit's refusals", said, "0", not errors)
    return out


def sent(url: str, megabytes: int) -> str:
    """Send a frame of so many zeros, and return the outcome."""
    stream = url.replace("http", "ws", 1) + "/_stcore/stream"
    try:
        with connect(stream, subprotocols=["streamlit"]) as socket:  # type: ignore[list-item]
            socket.send(bytes(megabytes * 1_000_000))
            socket.recv(timeout=20)
            return "answered"
    except REFUSALS as error:
        return closed(error)


async def huge(server: Server, megabytes: int, sockets: int, rest: float) -> Outcome:
    """Frames far above the limit, packed to a thousandth by the socket's own compression."""
    await warmed(server)
    out, counts = Outcome(), Counter[str]()

    async def one() -> None:  # in a thread, since packing so much would hold up our own other visitors
        counts[await asyncio.to_thread(sent, server.url, megabytes)] += 1

    async def trouble() -> str:
        await asyncio.gather(*(one() for _ in range(sockets)))
        return ", ".join(f"{counts[name]} {name}" for name in sorted(counts))

    await beside(server, out, trouble, f"{sockets} frames of {megabytes} MB", rest)
    return out
