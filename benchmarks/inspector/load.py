"""Many clients at once on a served inspection: no errors, and 95 % of the answers within 500 ms.

``python -m benchmarks.inspector.load 32 1000`` is the full measurement. The server is a separate
process, as for a user; the clients are threads with a connection each, and request what the page
does: passes, differences, lines, details, searches.
"""

import http.client
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec
import numpy as np

from irkit.inspector_web.page_files import address
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Trace

PRODUCT = """\
def matmul(A: f32[64, 64], B: f32[64, 64], C: f32[64, 64]):
    for i in parallel(0, 64):
        for j in serial(0, 64):
            for k in serial(0, 64):
                with block("C"):
                    vi = axis.spatial(64, i)
                    vj = axis.spatial(64, j)
                    vk = axis.reduce(64, k)
                    with init():
                        C[vi, vj] = f32(0.0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


class ClientResult(msgspec.Struct):
    """Times and errors of the requests of a client, and the last answer. Units: seconds."""

    seconds: list[float]
    errors: list[str]
    last: bytes = b""


def page_requests(steps: int, function: str, client: int) -> Iterator[str]:
    """Yield requests of the page without end, for each client in another order."""
    at = client
    while True:
        step = at * 7 % steps
        yield f"/api/diff?left=0.{step}.b&right=0.{step}.a&names={at % 2}"
        yield f"/api/step?run=0&step={step}"
        yield f"/api/lines?state=0.{step}.a&from=1&to=50"
        yield f"/api/line?state=0.{step}.a&line=2"
        yield f"/api/blame?state=0.{step}.a"
        yield f"/api/search?run=0&text={quote('for ' + 'ijk'[at % 3])}"
        yield f"/api/counts?run=0&function={quote(function)}"
        yield "/api/overview"
        yield "/api/status"
        yield address("page.js")
        at += 1


def ask(address: str, path: list[str]) -> ClientResult:
    """Send the requests of one client, one after the other over one connection."""
    where = urlsplit(address)
    made = ClientResult([], [])
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    connection.request("GET", f"/?{where.query}")
    first = connection.getresponse()
    cookie = (first.getheader("Set-Cookie") or "").split(";")[0]
    first.read()
    for each in path:
        begun = time.perf_counter()
        try:
            connection.request("GET", each, headers={"Cookie": cookie})
            answer = connection.getresponse()
            made.last = answer.read()
            if answer.status != 200 or not made.last:
                made.errors.append(f"{answer.status} {each}")
        except (OSError, http.client.HTTPException) as error:
            made.errors.append(f"{type(error).__name__} {each}")
            connection.close()
        made.seconds.append(time.perf_counter() - begun)
    connection.close()
    return made


def load(address: str, clients: int, requests: int, steps: int, function: str) -> ClientResult:
    """Run clients at the same time and return their results as one."""
    made: list[ClientResult] = []

    def client(number: int) -> None:
        requests_of_client = page_requests(steps, function, number)
        made.append(ask(address, [next(requests_of_client) for _ in range(requests)]))

    threads = [threading.Thread(target=client, args=(at,)) for at in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ClientResult(
        [spent for each in made for spent in each.seconds],
        [error for each in made for error in each.errors],
    )


@contextmanager
def serving(file: Path) -> Generator[str]:
    """Serve a trace in a separate process; the context is its address."""
    server = subprocess.Popen(
        [sys.executable, "-m", "irkit", "inspect", str(file), "--no-open", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None, "the server did not start"
        while b'"ready"' not in ask(found[0], ["/api/status"]).last:
            time.sleep(0.01)
        yield found[0]
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def main(clients: int, requests: int) -> int:
    """Serve a trace, run the clients and print the figures; return 1 for errors or slow answers."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "product.trace"
        made = trace(parse(PRODUCT, file="product.irs"))
        Trace(made, title="product").save(file)
        with serving(file) as address:
            begun = time.perf_counter()
            result = load(address, clients, requests, len(made), "matmul")
            spent = time.perf_counter() - begun
    return _report(result, spent, clients, requests)


def _report(result: ClientResult, spent: float, clients: int, requests: int) -> int:
    median, most, worst = np.percentile(np.array(result.seconds) * 1e3, [50, 95, 100])
    print(f"{clients} clients x {requests} requests: {len(result.seconds) / spent:.0f} a second")
    print(f"median {median:.1f} ms, 95 % within {most:.1f} ms (at most 500), worst {worst:.1f} ms")
    print(f"{len(result.errors)} errors", *result.errors[:5], sep="\n  ")
    return int(bool(result.errors) or bool(most > 500))


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    sys.exit(main(*given) if len(given) == 2 else main(32, 1_000))
