#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests for http."""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import generator

HOSTS = ["localhost", "example.org", "shop", "img.example.org"]


def request(rng, hosts, bodies):
    posting = rng.random() < bodies
    method = rng.choice(["POST", "PUT"]) if posting else rng.choice(["GET", "GET", "GET", "HEAD", "DELETE"])
    if rng.random() < 0.02:
        method = "BREW"
    minor = 1 if rng.random() < 0.7 else 0
    version = f"HTTP/1.{minor}" if rng.random() < 0.99 else "HTTP/2"
    lines = [f"{method} {rng.choice(['/', '/a', '/index.html', '/x?y=z'])} {version}"]
    if rng.random() < (0.97 if minor else 0.85):
        lines.append(f"Host: {rng.choice(hosts)}{rng.choice(['', '', ':80'])}")
    for _ in range(rng.randrange(0, 4)):
        lines.append(rng.choice(["Accept: */*", "User-Agent: x/1.0", "Cookie: a=b; c=d", "X-Empty:", "If-Match: \"a\"",
                                 "If-Match: a" if rng.random() < 0.1 else "Accept: text/html"]))
    if rng.random() < (0.1 if minor else 0.6):
        lines.append("Connection: " + rng.choice(["keep-alive", "Keep-Alive", "keep-alive", "close"]))
    body = ""
    if posting or rng.random() < 0.02:
        body = rng.choice(["a=1&b=2", "{}", "x" * rng.randrange(1, 200), "some text\nin lines"])
        if rng.random() < 0.3:
            lines.append("Transfer-Encoding: chunked")
            cut = rng.randrange(len(body))
            parts = [part for part in (body[:cut], body[cut:]) if part]
            body = "".join(f"{len(part):x}\r\n{part}\r\n" for part in parts) + "0\r\n\r\n"
        else:
            lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines) + "\r\n\r\n" + body


def generate(seed):
    rng = random.Random(f"http {seed}")
    hosts = rng.sample(HOSTS, rng.randrange(1, 4))
    bodies = rng.choice([0, 0, 0.08, 0.25])
    args = [word for host in hosts for word in ("-v", host)]
    asked = hosts * 6 + ["other.net"]
    return args, "".join(request(rng, asked, bodies) for _ in range(rng.randrange(1, 10)))


if __name__ == "__main__":
    generator.main(generate)
