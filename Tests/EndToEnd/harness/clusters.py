"""What tests of several hubs on one Redis share."""

import json
import urllib.request

import pytest

from .processes import wait_for
from .redis import Redis


@pytest.fixture
def redis():
    server = Redis()
    yield server
    server.stop()


def ripen(redis):
    """Makes the data of Redis older than the time in which new names wait."""
    wait_for(lambda: redis.cli("exists", "{rtcast}:born") == "1", "first hub")
    redis.cli("set", "{rtcast}:born", "1")


def health(url):
    with urllib.request.urlopen(url + "health", timeout=10) as answer:
        return json.loads(answer.read())
