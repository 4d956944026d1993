"""The processor time of relaying: the TURN server in the hub beside coturn, with the same load of coturn's own client.

    scripts/setup
    sudo python Benchmarks/TURN/compare.py [--clients 100] [--packets 1000] [--size 1000] [--interval 20] [--runs 3]

Wants root (network namespaces), coturn, and RTCAST or a release build. turnutils_uclient makes so many allocations, and on each sends
packets of so many bytes in that interval of milliseconds, by channels, to an echo server: each packet passes the TURN server twice.
Server, client and echo server share the machine, each in its own network namespace. The servers take turns.

For each server: processor time of the server, microseconds of it for each relayed packet, packets that were lost.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness import netns  # noqa: E402
from harness.coturn import SECRET, Authority, Coturn  # noqa: E402
from harness.hub_turn import HubTurn  # noqa: E402


def processor_seconds(pid):
    """User and system time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(server, pid, client, peer, arguments):
    """Processor seconds of the server, packets that it relayed, and packets lost."""
    with peer:
        echo = subprocess.Popen(["turnutils_peer", "-L", peer.address, "-p", "3480"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        before = processor_seconds(pid)
        with client:   # several users, because the hub limits the allocations of each
            started = [
                subprocess.Popen(
                    ["turnutils_uclient", "-W", SECRET, "-u", name, "-e", peer.address, "-r", "3480", "-c", "-m", str(arguments.clients // 4), "-n",
                     str(arguments.packets), "-l", str(arguments.size), "-z", str(arguments.interval), server.host.address],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for name in ("ada", "bob", "cy", "dan")]
        said = [each.communicate(timeout=600)[0] for each in started]
        used = processor_seconds(pid) - before
    finally:
        echo.kill()
        echo.wait()
    received = lost = 0
    for each, text in zip(started, said):
        counts = re.findall(r"tot_recv_msgs=(\d+)", text), re.findall(r"Total lost packets (\d+)", text)
        assert each.returncode == 0 and all(counts), text[-2000:]
        received, lost = received + int(counts[0][-1]), lost + int(counts[1][-1])
    return used, 2 * received, lost


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--packets", type=int, default=1000)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--interval", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print("load", *os.getloadavg(), file=sys.stderr)
    results = {"coturn": [], "hub": []}
    with netns.Network() as network, tempfile.TemporaryDirectory() as folder:
        host, client, peer = (network.server(name, number) for name, number in (("turn", 10), ("client", 20), ("peer", 30)))
        authority = Authority(folder, host.address)
        for _ in range(arguments.runs):
            for name in results:
                server = Coturn(host, secret=True, options=["--user-quota=0"]) if name == "coturn" else HubTurn(
                    host, authority, "--turn-max-rate", "1000")
                try:
                    pid = server.process.pid if name == "coturn" else server.hub.process.pid
                    results[name].append(run(server, pid, client, peer, arguments))
                    print(name, results[name][-1], file=sys.stderr)
                finally:
                    server.stop()
    print("| server | processor time (s) | µs per packet | lost |\n|---|---|---|---|")
    for name, runs in results.items():
        seconds = statistics.median(used for used, _, _ in runs)
        each = statistics.median(1e6 * used / packets for used, packets, _ in runs)
        print(f"| {name} | {seconds:.2f} | {each:.1f} | {sum(lost for _, _, lost in runs)} |")


if __name__ == "__main__":
    main()
