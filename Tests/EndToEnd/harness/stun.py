"""A STUN server of a test's own, which answers no sooner than the test lets it."""

import socket
import threading

from aioice import stun


class LateSTUN:
    """Tells everybody the address `MAPPED`, which is nobody's."""

    MAPPED = ("203.0.113.9", 40_404)

    def __init__(self):
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.answered = threading.Event()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.url = f"stun:127.0.0.1:{self.socket.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while data := self._receive():
            question, address = data
            self.asked.set()
            self.may_answer.wait()
            answer = stun.Message(stun.Method.BINDING, stun.Class.RESPONSE, question.transaction_id)
            answer.attributes["XOR-MAPPED-ADDRESS"] = self.MAPPED
            self.socket.sendto(bytes(answer), address)
            self.answered.set()

    def _receive(self):
        """The next question and who asks; None at the end."""
        data, address = self.socket.recvfrom(2048)
        return (stun.parse_message(data), address) if data else None

    def stop(self):
        self.may_answer.set()
        self.socket.sendto(b"", self.socket.getsockname())
        self.thread.join(5)
        self.socket.close()
