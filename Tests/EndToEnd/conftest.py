import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from harness import reach, sound, viewer_page  # noqa: E402
from harness.browser import FAKE_DEVICES, chromium  # noqa: E402
from harness.clips import Clips  # noqa: E402
from harness.hub_page import HubPage  # noqa: E402
from harness.image_compositor import ImageCompositor  # noqa: E402
from harness.pictures import PAGE_SIZE, coloured_page  # noqa: E402
from harness.pipewire_session import StandInPortal  # noqa: E402
from harness.plugins import compiled  # noqa: E402
from harness.pulse import PipeWireServer, PulseServer  # noqa: E402
from harness.rtcast import ROOT, Rtcast  # noqa: E402
from harness.xserver import XServer  # noqa: E402


# A shell without job control starts what is in its background with SIGINT ignored, and a program under test would inherit that. A
# signal that has a handler here is at its default there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GROUP = "of:"


def pytest_runtest_logreport(report):
    """A line for each phase of each test, for `scripts/test-run`: outcome, name, seconds, and why it was skipped."""
    path = os.environ.get("RTCAST_RESULTS")
    if not path or "PYTEST_XDIST_WORKER" in os.environ:
        return  # the process that started the workers gets the same reports
    reason = report.longrepr[2].removeprefix("Skipped: ") if report.outcome == "skipped" else ""
    name = report.nodeid.split("@" + GROUP)[0].replace("\t", " ")
    with open(path, "a") as results:
        print(report.outcome, name, f"{report.duration:.2f}", " ".join(reason.split()), sep="\t", file=results)


@pytest.hookimpl(tryfirst=True)  # xdist takes the groups from the marks that it finds
def pytest_collection_modifyitems(config, items):
    """The slowest tests first. Tests that share a fixture of their module, or browsers of a kind, stay together in one process."""
    for item in items:
        for mark in (*item.iter_markers("alone"), *item.iter_markers("quiet")):
            if not mark.args:
                raise pytest.UsageError(f"{item.nodeid}: `{mark.name}` needs the reason: what the test measures that others would disturb")
        if shared := _shared(item):
            item.add_marker(pytest.mark.xdist_group(GROUP + shared))
    if os.environ.get("RTCAST_RESULTS"):
        durations, cost = _recorded_durations(), {}
        for item in items:
            cost[_group(item)] = cost.get(_group(item), 0) + durations.get(item.nodeid, 1)
        items.sort(key=lambda item: (-cost[_group(item)], _group(item)))


def _group(item):
    return next((mark.args[0] for mark in item.iter_markers("xdist_group")), item.nodeid)


def _shared(item):
    """What is dear to start and shared by the test with others: a fixture of its module, the browsers of people, or Firefox."""
    fixtures = item._fixtureinfo.name2fixturedefs
    if any(definition.scope == "module" for definitions in fixtures.values() for definition in definitions):
        return item.nodeid.split("::")[0]
    if "people" in fixtures:
        return "people"
    if hasattr(item, "callspec") and item.callspec.params.get("any_browser") == "firefox":
        return "firefox"
    return None


def _recorded_durations():
    try:
        lines = (Path(__file__).parents[1] / "durations.tsv").read_text().splitlines()
    except FileNotFoundError:
        return {}
    return {name: float(seconds) for seconds, name in (line.split("\t", 1) for line in lines)}


@pytest.fixture(scope="session")
def driver():
    """One browser for the whole session; tests open the page anew."""
    browser = chromium()
    yield browser
    browser.quit()


@pytest.fixture
def browser(driver):
    """The shared browser, brought back to one empty tab."""
    while len(driver.window_handles) > 1:
        driver.switch_to.window(driver.window_handles[-1])
        driver.close()
    driver.switch_to.window(driver.window_handles[0])
    driver.get("about:blank")
    yield driver
    driver.switch_to.window(driver.window_handles[0])
    driver.get("about:blank")


@pytest.fixture
def old_browser(browser):
    """The shared browser, without what the page needs to draw the pointer itself."""
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.ResizeObserver"})
    yield browser
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


@pytest.fixture(scope="session")
def page_browsers():
    """One large browser of each kind for the whole session, started when a test needs it."""
    started = {}

    def browser(kind):
        if kind not in started:
            started[kind] = viewer_page.start(kind)
        return started[kind]

    yield browser
    for each in started.values():
        each.quit()


@pytest.fixture(params=["chromium", "firefox"])
def any_browser(request, page_browsers):
    """Both browsers in turn, for what their engines do differently."""
    browser = page_browsers(request.param)
    yield browser
    browser.get("about:blank")


@pytest.fixture
def page_browser(page_browsers):
    """Chromium, large enough for a whole screen, for what engines do alike."""
    browser = page_browsers("chromium")
    yield browser
    browser.get("about:blank")


@pytest.fixture
def screen():
    """An X screen with a page of coloured text: the server, a client of it, and its window."""
    server = XServer(PAGE_SIZE)
    painter = server.client()
    window = painter.window()
    painter.put(window, coloured_page(*PAGE_SIZE))
    yield server, painter, window
    painter.close()
    server.stop()


@pytest.fixture
def ear(browser):
    """The shared browser, allowed to measure sound with worklets of our own."""
    sound.prepare(browser)
    yield browser
    sound.prepare(browser, False)


@pytest.fixture
def cautious_browser():
    """A browser that lets nothing sound before its user has touched the page, as browsers do when nobody tells them otherwise."""
    browser = chromium(autoplay="document-user-activation-required")
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def people():
    """Browsers with a camera and a microphone, one a person, started when somebody needs one more."""
    browsers = []

    def browser(index):
        while len(browsers) <= index:
            browsers.append(chromium(size=(1000, 700), flags=FAKE_DEVICES))
        return browsers[index]

    yield browser
    for each in browsers:
        each.quit()


@pytest.fixture
def visit(people):
    """Opens the hub's page for each of the names given, and joins."""
    used = []

    def open_pages(url, *names, join=True):
        pages = []
        for name in names:
            used.append(people(len(used)))
            pages.append(HubPage(used[-1], url, name))
            if join:
                pages[-1].join()
        return pages

    yield open_pages
    for browser in used:
        browser.get("about:blank")


@pytest.fixture(scope="session")
def clips(tmp_path_factory):
    return Clips(tmp_path_factory.mktemp("clips"))


@pytest.fixture
def pulse():
    server = PulseServer()
    yield server
    server.stop()


@pytest.fixture(params=[PulseServer, PipeWireServer], ids=["pulseaudio", "pipewire"])
def sound_server(request):
    """Either of the two sound servers that desktops have."""
    if request.param is PipeWireServer and not PipeWireServer.is_installed():
        pytest.skip("PipeWire is not installed; scripts/setup installs it.")
    server = request.param()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def waves(tmp_path_factory):
    """The example of a plugin."""
    return compiled(next(ROOT.glob("Snippets/**/waves.c")), tmp_path_factory.mktemp("plugins") / "libwaves.so")


@pytest.fixture(scope="session")
def image_compositor(tmp_path_factory):
    """The program of `ImageCompositor`."""
    return ImageCompositor.compiled(tmp_path_factory.mktemp("image_compositor"))


@pytest.fixture(scope="session")
def stand_in_portal(tmp_path_factory):
    """The program of `StandInPortal`."""
    return StandInPortal.compiled(tmp_path_factory.mktemp("stand_in_portal"))


@pytest.fixture
def portal(stand_in_portal):
    """Starts stand-ins for the portal of a desktop."""
    started = []

    def start(*words, **choices):
        started.append(StandInPortal(stand_in_portal, *words, **choices))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture
def xserver():
    server = XServer()
    yield server
    server.stop()


@pytest.fixture
def cast():
    """Starts rtcast with the arguments given; everything started is stopped at the end."""
    started = []

    def start(*arguments, **options):
        process = Rtcast(*arguments, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.stop()


@pytest.fixture(scope="module")
def built(request):
    """Networks of namespaces, for all tests of a file; its `furnish(bed)`, if it has one, adds what they alone need."""
    if why := reach.missing():
        pytest.skip(why)
    bed = reach.Bed()
    try:
        getattr(request.module, "furnish", lambda bed: None)(bed)
        yield bed
    finally:
        bed.close()


@pytest.fixture
def bed(built):
    yield built
    built.reset()


@pytest.fixture
def hub(bed, cast):
    def start(*options):
        with bed.hub_host:
            return cast("serve", "--open", "--listen", f"{bed.hub_host.address}:{reach.HUB_PORT}", *options).url()
    return start
