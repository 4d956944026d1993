"""What comes from the other side, counted in this process: for peers on aiortc."""

import asyncio

from aiortc.mediastreams import MediaStreamError


class Counted:
    """Takes the tracks it is given, and counts pictures and blocks of sound."""

    def __init__(self):
        self.counts = {"video": 0, "audio": 0}
        self.enough = {"video": asyncio.Event(), "audio": asyncio.Event()}
        self.tasks = []

    def take(self, track):
        self.tasks.append(asyncio.ensure_future(self._count(track)))

    async def _count(self, track):
        try:
            while True:
                await track.recv()
                self.counts[track.kind] += 1
                if self.counts[track.kind] == 10:
                    self.enough[track.kind].set()
        except MediaStreamError:
            pass

    async def seen(self, *kinds, timeout=20):
        """Ten of each kind have come."""
        try:
            async with asyncio.timeout(timeout):
                for kind in kinds or self.enough:
                    await self.enough[kind].wait()
        except TimeoutError:
            raise AssertionError(f"within {timeout} s came {self.counts}") from None

    def stop(self):
        for task in self.tasks:
            task.cancel()
