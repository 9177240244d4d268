"""redis-server under load, and the CPU time of its main thread alone.

For timing, redis-benchmark sends the same number of the same requests each time, from another processor; its keys
are random, and its answers are not compared. For counting, where every run must execute the same instructions,
fixed commands go over one connection in batches: each is sent at once, fits the server's buffer of 16 KB, so that it
is read at once, and is answered in full before the next one is sent. The timer, whose calls depend on the clock,
is set to once a second, nothing is saved, and the threads in the background have nothing to do. What is left is
the seed of the server's hash tables, drawn at its start: which names of commands collide makes a difference of up to 0.5% from
run to run, so the mean of several is taken.

Both begin with the fixed commands: in a timed run they are the warm-up, and their answers are what is compared with those of the
plain build."""

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time

from loads import RunFailed, describe

OPTIONS = ["--port", "0", "--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning", "--hz", "1",
           "--dynamic-hz", "no", "--activerehashing", "no", "--io-threads", "1"]
BATCH_BYTES = 12000
PATIENCE = 300
# As they are before the benchmark keeps itself to one.
PROCESSORS = os.sched_getaffinity(0)


class Server:
    """commands makes the fixed commands; benchmark is the arguments of redis-benchmark, which lies beside the
    executable."""

    beside = ("redis-benchmark",)
    repeats = 5

    def __init__(self, commands, benchmark):
        self.commands = commands
        self.benchmark = benchmark

    def run(self, setting):
        with Process(setting) as server:
            digest = server.feed(self.commands())
            client = os.path.join(os.path.dirname(setting.executable), "redis-benchmark")
            before = server.cpu_seconds()
            run_client([client, "-s", server.socket_path] + self.benchmark, setting)
            seconds = server.cpu_seconds() - before
            server.shut_down()
        return seconds, digest

    def count(self, setting):
        with Process(setting) as server:
            digest = server.feed(self.commands())
            server.shut_down()
        return digest

    def describe(self):
        return repr((OPTIONS, BATCH_BYTES, self.repeats, self.commands()))


def server_processor():
    """The server stays on the processor that the benchmark was given, else on the last one."""
    return max(os.sched_getaffinity(0))


def run_client(argv, setting):
    others = PROCESSORS - {server_processor()} or PROCESSORS
    done = subprocess.run(argv, env=setting.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, preexec_fn=lambda: os.sched_setaffinity(0, others))
    if done.returncode != 0 or "requests per second" not in done.stdout:
        raise RunFailed("redis-benchmark: %s" % done.stdout.strip()[-200:])


class Process:
    """A running server. The socket has a directory of its own, since its path may have only 107 characters."""

    def __init__(self, setting):
        self.setting = setting
        self.child = None
        self.connection = None

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="inquest-bench-")
        self.socket_path = os.path.join(self.directory, "socket")
        argv = self.setting.words + [self.setting.executable, "--unixsocket", self.socket_path, "--dir", self.setting.scratch] + OPTIONS
        with open(os.path.join(self.setting.scratch, "output"), "wb") as output:
            self.child = subprocess.Popen(argv, env=self.setting.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                          preexec_fn=lambda: os.sched_setaffinity(0, {server_processor()}))
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.connection:
            self.connection.close()
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def connect(self):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(PATIENCE)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return self.connection.connect(self.socket_path)
            except OSError:
                if self.child.poll() is not None or time.monotonic() > end:
                    raise RunFailed("redis-server does not listen")
                time.sleep(0.02)

    def feed(self, commands):
        """Sends the commands in batches; returns a digest of the answers."""
        digest = hashlib.sha256()
        batch = b""
        for command in commands:
            batch += encode(command)
            if len(batch) >= BATCH_BYTES:
                self.exchange(batch, digest)
                batch = b""
        self.exchange(batch, digest)
        return digest.hexdigest()

    def exchange(self, batch, digest):
        """An ECHO at the end of a batch tells where its answers end."""
        mark = b"end of batch"
        self.connection.sendall(batch + encode(("ECHO", mark.decode())))
        answers = b""
        while not answers.endswith(b"$%d\r\n%s\r\n" % (len(mark), mark)):
            piece = self.connection.recv(1 << 20)
            if not piece:
                raise RunFailed("redis-server closed the connection")
            answers += piece
        digest.update(answers)

    def cpu_seconds(self):
        """User and system time of the main thread."""
        with open("/proc/%d/task/%d/schedstat" % (self.child.pid, self.child.pid)) as file:
            return int(file.read().split()[0]) / 1e9

    def shut_down(self):
        self.connection.sendall(encode(("SHUTDOWN", "NOSAVE")))
        try:
            status = self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise RunFailed("redis-server does not end")
        if status != 0:
            raise RunFailed("redis-server ended with %s" % describe(status << 8 if status > 0 else -status))


def encode(command):
    words = [word.encode() for word in command]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
