"""The hub's page by keyboard alone, and on a phone: small, held upright and sideways, and touched."""

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def press(page, *keys):
    ActionChains(page.driver).send_keys(*keys).perform()


def tab_to(page, selector):
    """Presses Tab until the element has the focus, and sees that it is shown where the focus is."""
    for _ in range(60):
        press(page, Keys.TAB)
        if page.script("return document.activeElement?.matches(arguments[0])", selector):
            assert page.script("return document.activeElement.matches(':focus-visible') && getComputedStyle(document.activeElement).outlineStyle !== 'none'"
                               " || getComputedStyle(document.activeElement).boxShadow !== 'none'"), f"{selector} does not show that it has the focus"
            return
    raise AssertionError(f"Tab never comes to {selector}")


def test_a_call_by_keyboard_alone(hub, visit):
    """Join, call, answer, mute, write, look up the keys, hang up: no pointer is used on either page."""
    alice, bob = visit(hub, "alice", "bob", join=False)
    for person in (alice, bob):
        tab_to(person, "#join")
        press(person, Keys.ENTER)
        person.wait(hub="online")
    alice.until("document.querySelector('#people [data-peer=bob] button')", what="bob in the list")
    tab_to(alice, "#people [data-peer=bob] button")
    press(alice, Keys.ENTER)
    bob.wait(state="ringing")
    press(bob, Keys.ENTER)   # the dialog has put the focus on Accept
    for person in (alice, bob):
        person.wait(state="call").wait_tiles(1).wait_moving()

    press(bob, "m")
    alice.wait_tiles(1, "[data-audio-muted=true][data-video-muted=false]")
    press(bob, "v")
    alice.wait_tiles(1, "[data-audio-muted=true][data-video-muted=true]")
    press(bob, "mv")
    alice.wait_tiles(1, "[data-audio-muted=false][data-video-muted=false]")

    press(alice, "c")
    alice.until("document.activeElement.id === 'chat-text' && !document.activeElement.disabled", what="the focus in the chat")
    press(alice, "mh, by hand", Keys.ENTER)
    bob.wait_words("alice", "mh, by hand")
    assert alice.data()["state"] == "call" and alice.data()["microphone"] == "on", "letters typed into the chat are letters"
    press(alice, Keys.ESCAPE)
    alice.wait(chat="closed")

    press(alice, "?")
    alice.until("document.querySelector('#help').open")
    press(alice, Keys.ESCAPE)
    alice.until("!document.querySelector('#help').open")
    press(alice, "i")
    alice.wait(figures="on")
    press(alice, "i")
    press(alice, "d")
    alice.until("document.querySelector('#devices').open")
    press(alice, Keys.ESCAPE)
    press(alice, "h")
    for person in (alice, bob):
        person.wait(state="lobby")


UPRIGHT, SIDEWAYS = (390, 844), (844, 390)


class Phone:
    """Makes a page's browser one: a small screen, and fingers."""

    def __init__(self, page):
        self.page, self.cdp = page, page.driver.execute_cdp_cmd
        self.cdp("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
        self.hold(UPRIGHT)

    def hold(self, size):
        turned = size[0] > size[1]
        self.cdp("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": True,
            "screenOrientation": {"type": "landscapePrimary" if turned else "portraitPrimary", "angle": 90 if turned else 0}})
        self.page.until(f"innerWidth === {size[0]} && innerHeight === {size[1]}", what="the screen's new size")

    def tap(self, selector):
        """With a finger, where the element is; it must be on the screen, and nothing over it."""
        self.page.until(f"document.querySelector({selector!r})?.checkVisibility()", what=f"{selector} on the page")
        place = self.page.script("""
            const element = document.querySelector(arguments[0]);
            element.scrollIntoView({ block: "nearest" });
            const { x, y, width, height } = element.getBoundingClientRect();
            return [x + width / 2, y + height / 2, element.contains(document.elementFromPoint(x + width / 2, y + height / 2))];""", selector)
        assert place[2], f"{selector} is covered or off the screen at {place[:2]}"
        self.cdp("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": place[0], "y": place[1]}]})
        self.cdp("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def assert_fits(self, *selectors):
        """Nothing has to be moved sideways; these are whole on the screen, and as large as a finger needs."""
        assert self.page.script("return document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen"
        for selector in selectors:
            for x, y, width, height in self.page.script("""
                    return [...document.querySelectorAll(arguments[0])].filter((each) => each.checkVisibility()).map((each) => {
                      const { x, y, width, height } = each.getBoundingClientRect();
                      return [x, y, width, height]; });""", selector):
                wide, high = self.page.script("return [innerWidth, innerHeight]")
                assert x >= 0 and y >= 0 and x + width <= wide and y + height <= high, (selector, x, y, width, height)
                assert min(width, height) >= 40, (selector, width, height)

    def put_away(self):
        self.cdp("Emulation.clearDeviceMetricsOverride", {})
        self.cdp("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_a_call_on_a_phone_that_is_turned(hub, visit):
    """A finger joins, calls and hangs up; upright and sideways all buttons are on the screen and the other's picture moves."""
    bob, alice = visit(hub, "bob", "alice", join=False)
    bob.join()
    phone = Phone(alice)
    try:
        phone.assert_fits()
        phone.tap("#join")
        alice.wait(hub="online")
        phone.tap("#people [data-peer=bob] button")
        bob.accept()
        for size in (UPRIGHT, SIDEWAYS):
            phone.hold(size)
            alice.wait(state="call").wait_tiles(1).wait_moving()
            phone.assert_fits("#bar button")
            width, height = alice.script("const { width, height } = document.querySelector('#grid .tile').getBoundingClientRect(); return [width, height]")
            assert width * height > 0.3 * size[0] * size[1], "the other's picture has the room"
        phone.tap("#bar [data-do=microphone]")
        bob.wait_tiles(1, "[data-audio-muted=true]")
        phone.tap("#bar [data-do=chat]")
        alice.wait(chat="open")
        phone.assert_fits("#chat-send")
        phone.tap("#chat [data-do=chat-close]")
        alice.wait(chat="closed")
        phone.tap("#bar [data-do=hangup]")
        bob.wait(state="lobby")
    finally:
        phone.put_away()
