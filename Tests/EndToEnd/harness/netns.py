"""Networks to reach each other through: an internet of one segment, and sites behind NATs of the kinds that there are.

    internet 203.0.113.0/24
      ├── servers, each a namespace of its own: 203.0.113.10 …
      └── routers (NAT and firewall by nftables): 203.0.113.101 …
            └── LAN 10.1.0.0/24: hosts, each a namespace of its own: 10.1.0.2 …

What is started within `with host:` lives in the host's namespace, and so do the sockets that are opened there. The world of the tests
is in none of these networks: a `Forwarder` brings it to a port of a host. Names are unique for each process; `close` removes everything.
"""

import atexit
import ctypes
import os
import socket
import subprocess
import threading

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)

# What comes from outside and belongs to no flow is dropped before the router itself could own it: the flow that a host
# behind it opens later would get another port, and every NAT would be a symmetric one.
UNSOLICITED = """
    chain input {
        type filter hook input priority 0
        iifname "wan" ct state new,invalid drop
    }"""
MASQUERADE = """
    chain out {
        type nat hook postrouting priority 100
        oifname "wan" masquerade
    }"""

NATS = {
    # Endpoint-independent mapping and filtering: who knows the port comes in. All inbound UDP is the first host's.
    "full-cone": MASQUERADE + """
        chain in {
            type nat hook prerouting priority -100
            iifname "wan" meta l4proto udp dnat to FIRST
        }""",
    # Address-dependent filtering: whoever has been written to comes in, from any port.
    "address-restricted": MASQUERADE + """
        set known {
            type ipv4_addr
            flags dynamic,timeout
            timeout 60s
        }
        chain note {
            type filter hook forward priority 0
            oifname "wan" meta l4proto udp update @known { ip daddr }
        }
        chain in {
            type nat hook prerouting priority -100
            iifname "wan" meta l4proto udp ip saddr @known dnat to FIRST
        }""",
    # Address-and-port-dependent filtering, the usual one at home.
    "port-restricted": MASQUERADE,
    # Address-and-port-dependent mapping: another port for each destination.
    "symmetric": MASQUERADE.replace("masquerade", "masquerade fully-random"),
    # Firewalls, on top of a NAT at which nothing fails.
    "udp-blocked": MASQUERADE + """
        chain block {
            type filter hook forward priority 0
            meta l4proto udp drop
        }""",
    "https-only": MASQUERADE + """
        chain block {
            type filter hook forward priority 0; policy drop
            ct state established accept
            ct status dnat accept
            iifname "lan" tcp dport 443 accept
        }""",
}

HOST_FIREWALL = """
    table ip guard {
        chain input {
            type filter hook input priority 0
            iifname "eth*" meta l4proto udp udp dport != 5353 ct state new drop
        }
    }"""


def missing():
    """Why networks cannot be built here; None when they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program, package in (("ip", "iproute2"), ("nft", "nftables"), ("conntrack", "conntrack")):
        if subprocess.run(["which", program], capture_output=True).returncode != 0:
            return f"no {program}: install {package}"
    name = f"rt{os.getpid()}probe"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if tried.returncode != 0:
        return f"ip netns add: {tried.stderr.strip()}"
    try:
        for nat in NATS:
            tried = subprocess.run(["ip", "netns", "exec", name, "nft", "-f", "-"], input=_ruleset(nat, "10.0.0.2"), capture_output=True,
                                   text=True)
            if tried.returncode != 0:
                return f"nft, {nat}: {tried.stderr.strip()}"
    finally:
        subprocess.run(["ip", "netns", "del", name])
    return None


def _ruleset(nat, first, forwards=()):
    inward = "".join(f'iifname "wan" tcp dport {port} dnat to {address}\n' for port, address in forwards)
    return f"""flush ruleset
        table ip nat {{
            {UNSOLICITED}
            {NATS[nat].replace("FIRST", first)}
        }}
        table ip inward {{
            chain in {{
                type nat hook prerouting priority -110
                {inward}
            }}
        }}
        """


class Namespace:
    def __init__(self, name):
        self.name = name
        self.callers = threading.local()
        _ip("netns", "add", name)
        self.run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")   # of loopback's ::1 chromedriver has need
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *command, check=True, **options):
        done = subprocess.run(["ip", "netns", "exec", self.name, *command], capture_output=True, text=True, timeout=20, **options)
        assert not check or done.returncode == 0, f"{command} in {self.name}: {done.stderr}"
        return done.stdout

    def add_card(self, name, address):
        """A network card that is up; nobody is at its other end."""
        self.run("ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}far")
        self.run("ip", "address", "add", f"{address}/24", "dev", name)
        self.run("ip", "link", "set", name, "up")
        self.run("ip", "link", "set", f"{name}far", "up")

    def __enter__(self):
        """The thread that calls is in this namespace, with the processes it starts and the sockets it opens, until `__exit__`."""
        self.callers.homes = [*getattr(self.callers, "homes", []), os.open("/proc/thread-self/ns/net", os.O_RDONLY)]
        _set_namespace(f"/run/netns/{self.name}")
        return self

    def __exit__(self, *_):
        home = self.callers.homes.pop()
        _set_namespace(home)
        os.close(home)

    def swallow(self):
        """What has nowhere to go is lost without a word, as on the internet; coturn ends a session to which the kernel says no."""
        self.run("ip", "link", "add", "hole", "type", "bridge")
        self.run("ip", "link", "set", "hole", "arp", "off", "up")
        self.run("ip", "route", "add", "default", "dev", "hole")


class Host(Namespace):
    """A computer with one interface at a time, "eth0", "eth1" …, as cables and radios come and go."""

    def __init__(self, name):
        super().__init__(name)
        self.plugged = 0
        self.address = None

    def plug(self, segment, address, gateway=None):
        """A new interface at the segment, a `Namespace` with a bridge "lan"."""
        inner, outer = f"eth{self.plugged}", f"v{os.urandom(5).hex()}"
        self.plugged += 1
        _ip("link", "add", outer, "netns", segment.name, "type", "veth", "peer", "name", inner, "netns", self.name)
        segment.run("ip", "link", "set", outer, "master", "lan", "up")
        self.run("ip", "address", "add", f"{address}/24", "dev", inner)
        self.run("ip", "link", "set", inner, "up")
        if gateway:
            self.run("ip", "route", "add", "default", "via", gateway, "dev", inner)
        self.address = address
        return self

    def guard(self, on=True):
        """A firewall of the host's own: UDP comes in where the host has written to first, and multicast DNS. All else as before."""
        self.run("nft", "-f", "-", input="flush ruleset\n" + (HOST_FIREWALL if on else ""))

    def unplug(self):
        """The interface is gone, with its addresses and routes."""
        self.run("ip", "link", "delete", f"eth{self.plugged - 1}")


class Site(Namespace):
    """A router, with a NAT towards the internet and hosts at its LAN."""

    def __init__(self, network, name, number, nat):
        super().__init__(name)
        self.network = network
        self.number = number
        self.address = f"203.0.113.{100 + number}"
        self.hosts = 0
        self.forwards = []
        self.run("ip", "link", "add", "lan", "type", "bridge")
        self.run("ip", "address", "add", f"10.{number}.0.1/24", "dev", "lan")
        self.run("ip", "link", "set", "lan", "up")
        self.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        outer = f"v{os.urandom(5).hex()}"
        _ip("link", "add", outer, "netns", network.internet.name, "type", "veth", "peer", "name", "wan", "netns", name)
        network.internet.run("ip", "link", "set", outer, "master", "lan", "up")
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "wan")
        self.run("ip", "link", "set", "wan", "up")
        self.swallow()
        self.set_nat(nat)

    def host(self, name):
        host = self.network.add(Host, name)
        self.plug(host)
        return host

    def plug(self, host, address=None):
        """A new interface of the host's, at this LAN; with the next address unless one is given."""
        if not address:
            self.hosts += 1
            address = f"10.{self.number}.0.{1 + self.hosts}"
        host.plug(self, address, f"10.{self.number}.0.1")

    def set_nat(self, nat):
        """From now on it is a NAT of this kind; what flowed is forgotten."""
        self.nat = nat
        self.run("nft", "-f", "-", input=_ruleset(nat, f"10.{self.number}.0.2", self.forwards))
        self.forget()

    def forward(self, port, host):
        """TCP connections to this port of ours are the host's."""
        self.forwards = [(port, host.address)]
        self.set_nat(self.nat)

    def forget(self):
        """As a NAT that was switched off and on: no flow is known any more."""
        self.run("conntrack", "-F")

    def ports(self, host, destination):
        """From which ports of ours the host's UDP goes to a destination now, as the NAT has them."""
        flows = self.run("conntrack", "-L", "-p", "udp", "-s", host.address, "-d", destination).splitlines()
        return [int(flow.split("dport=")[2].split()[0]) for flow in flows if flow.count("dport=") == 2]


class Network:
    def __init__(self):
        self.spaces = []
        self.sites = 0
        atexit.register(self.close)
        self.prefix = f"rt{os.getpid()}"
        try:
            self.internet = self.add(Namespace, "net")
            self.internet.run("ip", "link", "add", "lan", "type", "bridge")
            self.internet.run("ip", "link", "set", "lan", "up")
        except BaseException:
            self.close()
            raise

    def add(self, kind, name, *arguments):
        full = f"{self.prefix}{name}"
        self.spaces.append(full)
        return kind(full, *arguments)

    def server(self, name, number):
        """A host that everybody reaches at 203.0.113.`number`."""
        host = self.add(Host, name).plug(self.internet, f"203.0.113.{number}")
        host.swallow()
        return host

    def site(self, name, nat="port-restricted"):
        self.sites += 1
        full = f"{self.prefix}{name}"
        self.spaces.append(full)
        return Site(self, full, self.sites, nat)

    def close(self):
        for name in self.spaces:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.spaces = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class ByteProxy:
    """Passes on what is said to a listening socket and what is answered; `connect` makes the other connection."""

    def __init__(self, listener, connect):
        self.listener, self.connect = listener, connect
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = self.connect()
            except OSError:
                near.close()
                continue
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_carry, args=(one, other), daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Forwarder(ByteProxy):
    """A port of this machine's loopback that leads to a port of a host's loopback."""

    def __init__(self, host, port):
        self.host, self.target = host, port
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        super().__init__(listener, self._connect)

    def _connect(self):
        with self.host:
            far = socket.create_connection(("127.0.0.1", self.target), 5)
        far.settimeout(None)
        return far


def _carry(source, sink):
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        source.close()
        sink.close()


def _ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"


def _set_namespace(place):
    number = os.open(place, os.O_RDONLY) if isinstance(place, str) else place
    try:
        if _libc.setns(number, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    finally:
        if isinstance(place, str):
            os.close(number)
