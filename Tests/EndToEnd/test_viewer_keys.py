"""Keys of the viewer page that no other test presses: actual size, the saved picture, the help; and the double click."""

import io
import time

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains

from harness.browser import Viewer
from harness.viewer_page import EVERYTHING


@pytest.fixture
def viewer(cast, browser):
    return Viewer(browser, cast("test", "--size", "320x180").url()).wait_live()


def press(viewer, keys):
    ActionChains(viewer.driver).send_keys(keys).perform()


def shown_size(viewer):
    """Width and height of the video in the page, in pixels of the device."""
    return tuple(viewer.script("""
        const place = document.querySelector("video").getBoundingClientRect();
        return [place.width * devicePixelRatio, place.height * devicePixelRatio].map(Math.round);"""))


def test_1_is_one_pixel_to_one_and_back(viewer):
    fitted = shown_size(viewer)
    assert fitted != viewer.size(), "the window is not of the picture's size"
    press(viewer, "1")
    viewer.until("document.body.classList.contains('actual')")
    assert shown_size(viewer) == viewer.size()
    press(viewer, "1")
    assert shown_size(viewer) == fitted


def test_p_saves_the_picture_as_it_is_on_the_screen(cast, browser, screen, tmp_path):
    """The file has every pixel of the screen, bit for bit."""
    server, _, _ = screen
    viewer = Viewer(browser, cast("screen", "--no-cursor", "--fps", "10", display=server.name).url()).wait_live()
    viewer.until(EVERYTHING, what="exact pixels everywhere")
    viewer.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    press(viewer, "p")
    deadline = time.monotonic() + 15
    while not (found := list(tmp_path.glob("*.png"))):
        assert time.monotonic() < deadline, list(tmp_path.iterdir())
        time.sleep(0.05)
    assert found[0].name.startswith("rtcast 20")
    picture = Image.open(io.BytesIO(found[0].read_bytes()))
    assert picture.format == "PNG" and np.array_equal(np.asarray(picture.convert("RGB")), server.picture())


def test_a_question_mark_shows_the_keys_and_takes_them_away(viewer):
    press(viewer, "?")
    assert viewer.script("return document.querySelector('#help').open")
    shown = viewer.script("return document.querySelector('#help').innerText").splitlines()
    assert {"f", "1", "p", "s", "r", "?"} <= {line.lower() for line in shown}, shown
    press(viewer, "?")
    assert not viewer.script("return document.querySelector('#help').open")


def test_a_double_click_is_full_screen_and_back(viewer):
    for wanted in (True, False):
        ActionChains(viewer.driver).double_click(viewer.driver.find_element("id", "stage")).perform()
        viewer.until(f"!!document.fullscreenElement === {str(wanted).lower()}", what=f"full screen: {wanted}")
