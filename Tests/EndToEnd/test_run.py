"""`rtcast run`: a command on a display of its own, cast and recorded; its status is passed on, and nothing of it is left."""

import os
import pty
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest

from harness import clips as clip
from harness.browser import Viewer
from harness.pictures import psnr
from harness.processes import wait_for
from harness.rtcast import BINARY, Rtcast, run, surroundings


@pytest.fixture
def scratch():
    """An environment whose runs keep their private folders in a folder of the test, which must be empty at the end."""
    with tempfile.TemporaryDirectory(prefix="run-", dir="/tmp") as folder:  # a long path has no room for sockets
        yield {"XDG_RUNTIME_DIR": folder}
        assert os.listdir(folder) == [], "the private folder is removed"


def begun(*arguments, env):
    """A run that is under way. Options are in front of the command, and so is --json."""
    return Rtcast("run", "--json", *arguments, json_lines=False, env=env)


def processes_of(folder):
    """The processes that speak of a run's folder: its display, its sound, its command."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in " ".join(process.cmdline()) or process.environ().get("XAUTHORITY", "").startswith(str(folder)):
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_clean(display):
    """No lock of an ended display is left. Another display may have taken the number meanwhile."""
    number = display.lstrip(":")
    try:
        return psutil.pid_exists(int(Path(f"/tmp/.X{number}-lock").read_text()))
    except FileNotFoundError:
        return not Path(f"/tmp/.X11-unix/X{number}").exists()


def gone(display, folder):
    wait_for(lambda: not processes_of(folder), "end of all processes")
    wait_for(lambda: is_clean(display), "removal of the lock")


def decodes(path):
    """The pictures of a recording, decoded without a complaint."""
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-fps_mode", "passthrough", "-enc_time_base:v", "1:1000", "-f", "null", "-"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return len(clip.packets(path))


def last_picture(path, size):
    """The last picture of a recording: height x width x RGB."""
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    width, height = size
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)[-1]


@pytest.mark.parametrize("command, status", [("exit 0", 0), ("exit 1", 1), ("exit 137", 137), ("kill -KILL $$", 137), ("kill -TERM $$", 143)])
def test_the_status_of_the_command_is_passed_on(command, status, scratch, tmp_path):
    record = tmp_path / "out.webm"
    code, out, err = run("run", "--size", "640x360", "--audio", "none", "--record", str(record), "--", "sh", "-c",
                         f"echo said; cat; xsetroot -solid red; {command}", env=scratch, stdin=b"typed\n")
    assert code == status, err
    assert out == "said\ntyped\n", "standard input and output are the command's"


def test_the_command_is_recorded_legibly(scratch, tmp_path):
    """The last picture is what the display showed, letter by letter."""
    record, shown = tmp_path / "out.webm", tmp_path / "shown.xwd"
    drawn = ("i=0; while [ $i -lt 30 ]; do echo line $i of a test that fails or passes; i=$((i+1)); done; sleep 2; "
             f"xwd -silent -root > {shown}.part && mv {shown}.part {shown}; sleep 1; kill -KILL $PPID")
    rtcast = begun("--size", "800x600", "--audio", "none", "--no-cursor", "--record", str(record), "--",
                    "xterm", "-geometry", "120x40+0+0", "-fa", "monospace", "-fs", "9", "-e", "sh", "-c", drawn, env=scratch)
    started = rtcast.wait_event("run")
    assert started["state"] == "started" and started["sound"] is False
    assert rtcast.wait(30) == 137
    rtcast.drain()
    events = {event["event"]: event for event in rtcast.seen}
    assert events["run"] == {"event": "run", "state": "ended", "status": 137} and events["ended"]["reason"] == "command ended"
    assert events["recorded"]["path"] == str(record) and "listening" not in events
    header = np.frombuffer(shown.read_bytes()[:100], dtype=">u4")
    start, stride = int(header[0] + header[19] * 12), int(header[12])
    rows = np.frombuffer(shown.read_bytes()[start:start + stride * 600], np.uint8).reshape(600, stride)
    wanted = rows[:, :3200].reshape(600, 800, 4)[:, :, 2::-1]
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", str(record), "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    pictures = np.frombuffer(raw, np.uint8).reshape(-1, 600, 800, 3)
    assert max(psnr(picture, wanted) for picture in pictures[-8:]) > 30
    gone(started["display"], scratch["XDG_RUNTIME_DIR"])


def test_a_run_is_cast_with_its_sound(scratch, cast, browser, clips):
    tone = clips.sound_only("run.wav", "pcm")
    rtcast = cast("run", "--json", "--size", "640x360", "--", "sh", "-c", f"xsetroot -solid green; exec paplay {tone}", json_lines=False, env=scratch)
    event = rtcast.listening()
    started = rtcast.wait_event("run")
    assert started["sound"] is True
    viewer = Viewer(browser, event["url"]).wait_live()
    viewer.until("document.querySelector('video').videoWidth === 640", what="the picture of the display")
    heard = rtcast.wait_event("stats", where=lambda event: event["audio_bps"] > 0)
    assert heard["width"] == 640
    rtcast.interrupt()
    assert rtcast.wait(20) == 0, "paplay ends in this way when it is interrupted"
    gone(started["display"], scratch["XDG_RUNTIME_DIR"])


def test_a_command_that_does_not_exist(scratch, tmp_path):
    code, out, err = run("run", "--size", "320x240", "--audio", "none", "--", "no-such-program-here", env=scratch)
    assert code == 127 and "no-such-program-here" in err and "PATH" in err, (code, err)
    code, _, err = run("run", "--size", "320x240", "--audio", "none", "--", str(tmp_path), env=scratch)
    assert code == 126 and str(tmp_path) in err, (code, err)


def test_a_command_that_forks_and_exits_leaves_nothing(scratch, tmp_path):
    """Not even a process in a session of its own that ignores the signals."""
    left = tmp_path / "left"
    stubborn = f"trap '' TERM INT HUP; echo $$ > {left}.part; mv {left}.part {left}; while :; do sleep 1; done"
    rtcast = begun("--size", "320x240", "--audio", "none", "--", "sh", "-c",
                    f"setsid sh -c \"{stubborn}\" & until [ -e {left} ]; do sleep 0.05; done; exit 3", env=scratch)
    started = rtcast.wait_event("run")
    assert rtcast.wait(30) == 3
    assert not psutil.pid_exists(int(left.read_text()))
    gone(started["display"], scratch["XDG_RUNTIME_DIR"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_ignores_signals_is_killed(number, scratch, tmp_path):
    record = tmp_path / "out.webm"
    rtcast = begun("--size", "320x240", "--audio", "none", "--record", str(record), "--", "sh", "-c",
                    f"trap '' TERM INT; xsetroot -solid red; touch {tmp_path}/ready; while :; do sleep 0.1; done", env=scratch)
    started = rtcast.wait_event("run")
    wait_for((tmp_path / "ready").exists, "the command")
    begin = time.monotonic()
    rtcast.process.send_signal(number)
    assert rtcast.wait(20) == 137
    assert 4 < time.monotonic() - begin < 15
    assert decodes(record) > 0
    gone(started["display"], scratch["XDG_RUNTIME_DIR"])


def test_a_command_ends_as_it_wants_after_a_signal(scratch, tmp_path):
    rtcast = begun("--size", "320x240", "--audio", "none", "--", "sh", "-c",
                    f"trap 'exit 42' TERM; touch {tmp_path}/ready; while :; do sleep 0.1; done", env=scratch)
    rtcast.wait_event("run")
    wait_for((tmp_path / "ready").exists, "the command")
    rtcast.process.terminate()
    assert rtcast.wait(20) == 42


def test_a_duration_ends_the_command(scratch):
    code, _, err = run("run", "--size", "320x240", "--audio", "none", "--duration", "1", "--", "sleep", "60", env=scratch)
    assert code == 143, err


def test_after_a_kill_nothing_is_left_and_the_recording_plays(scratch, tmp_path):
    record = tmp_path / "out.webm"
    paint = f"xsetroot -solid red; touch {tmp_path}/ready; while :; do xsetroot -solid blue; sleep 0.1; xsetroot -solid green; sleep 0.1; done"
    rtcast = begun("--size", "640x360", "--record", str(record), "--", "sh", "-c", paint, env=scratch)
    started = rtcast.wait_event("run")
    wait_for(lambda: record.stat().st_size > 0, "the beginning of the recording")
    time.sleep(2)
    folder = scratch["XDG_RUNTIME_DIR"]
    assert len(processes_of(folder)) >= 3
    rtcast.process.kill()
    rtcast.wait()
    gone(started["display"], folder)
    wait_for(lambda: not list(Path(folder).iterdir()), "end of the private folder")
    assert decodes(record) > 1


def test_a_display_that_dies_ends_the_run_with_the_status_of_the_command(scratch, tmp_path):
    record = tmp_path / "out.webm"
    rtcast = begun("--size", "640x360", "--audio", "none", "--record", str(record), "--", "xterm", "-e", "sleep", "60", env=scratch)
    started = rtcast.wait_event("run")
    folder = scratch["XDG_RUNTIME_DIR"]
    wait_for(lambda: record.stat().st_size > 0, "the beginning of the recording")
    [display] = [each for each in processes_of(folder) if each.name() == "Xvfb"]
    display.kill()
    assert rtcast.wait(20) not in (0, 70)
    assert any("Xvfb, the server of the display, ended before the command" in line for line in rtcast.stderr), rtcast.stderr
    rtcast.drain()
    assert [event["state"] for event in rtcast.seen if event["event"] == "run"] == ["started", "ended"]
    assert decodes(record) > 0
    gone(started["display"], folder)


def test_a_supervisor_that_is_killed_leaves_nothing_running(tmp_path):
    record = tmp_path / "out.webm"
    environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
    rtcast = begun("--size", "640x360", "--audio", "none", "--record", str(record), "--", "sh", "-c",
                    "xsetroot -solid red; exec sleep 60", env=environment)
    started = rtcast.wait_event("run")
    wait_for(lambda: record.stat().st_size > 0, "the beginning of the recording")
    [supervisor] = [each for each in psutil.Process(rtcast.process.pid).children() if each.name() == "rtc-run"]
    supervisor.kill()
    assert rtcast.wait(20) == 70
    assert decodes(record) > 0
    gone(started["display"], tmp_path)


@pytest.mark.parametrize("server", ["xorg-dummy", "tigervnc"])
def test_other_display_servers(server, scratch):
    code, out, err = run("run", "--display-server", server, "--size", "800x600", "--audio", "none", "--", "xdpyinfo", env=scratch, timeout=40)
    assert code == 0 and "dimensions:    800x600 pixels" in out, (code, err)


def test_a_window_manager_is_started(scratch):
    script = "until xprop -root _NET_SUPPORTING_WM_CHECK | grep -q 'window id'; do sleep 0.1; done"
    code, _, err = run("run", "--window-manager", "openbox --sm-disable", "--size", "640x360", "--audio", "none", "--", "sh", "-c", script,
                       env=scratch, timeout=30)
    assert code == 0, err


def test_other_users_cannot_open_the_display(scratch):
    """The display asks for the key, which is in a folder of this user alone."""
    script = "stat -c %a $XAUTHORITY $(dirname $XAUTHORITY); xdpyinfo > /dev/null && XAUTHORITY=/dev/null xdpyinfo > /dev/null 2>&1; echo $?"
    code, out, err = run("run", "--size", "320x240", "--audio", "none", "--", "sh", "-c", script, env=scratch)
    assert code == 0 and out == "600\n700\n1\n", (out, err)


def test_runs_without_what_they_need(scratch, tmp_path):
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "sh").symlink_to("/bin/sh")
    code, _, err = run("run", "--audio", "none", "--", "sh", "-c", "true", env={**scratch, "PATH": str(bin)})
    assert code == 69 and "Xvfb" in err and "apt install xvfb" in err, (code, err)
    (bin / "Xvfb").symlink_to("/usr/bin/Xvfb")
    code, _, err = run("run", "--size", "320x240", "--", "sh", "-c", "exit 5", env={**scratch, "PATH": str(bin)})
    assert code == 5 and "no sound" in err, (code, err)
    (bin / "Xvfb").unlink()
    (bin / "Xvfb").write_text("#!/bin/sh\necho no screens found >&2; exit 1\n")
    (bin / "Xvfb").chmod(0o755)
    code, _, err = run("run", "--size", "320x240", "--audio", "none", "--", "sh", "-c", "true", env={**scratch, "PATH": str(bin)})
    assert code == 69 and "no screens found" in err, (code, err)


@pytest.mark.parametrize("arguments, word", [
    ((), "--"), (("--",), "behind --"), (("--control", "--", "true"), "unix:NAME"), (("--segment", "10m", "--", "true"), "--record"),
    (("--serve", "--to", "https://sfu.example/whip", "--", "true"), "--serve")])
def test_wrong_usage(arguments, word, scratch):
    code, _, err = run("run", *arguments, env=scratch)
    assert code == 64 and word in err, (code, err)


@pytest.mark.parametrize("folder", ["no/such/folder", None])
def test_a_recording_that_cannot_be_made_starts_nothing(folder, scratch, tmp_path):
    path = tmp_path / (folder or "") / ("out.webm" if folder else "out.xyz")
    code, _, err = run("run", "--size", "320x240", "--audio", "none", "--record", str(path), "--", "touch", str(tmp_path / "ran"), env=scratch)
    assert code == (73 if folder else 64), err
    assert not (tmp_path / "ran").exists()


def test_ten_runs_at_once(scratch, tmp_path):
    def one(index):
        record = tmp_path / f"out-{index}.webm"
        script = f"xsetroot -solid '#{index}0{index}0{index}0'; sleep 1; exit {index}"
        code, _, err = run("run", "--size", "320x240", "--audio", "none", "--no-cursor", "--record", str(record), "--", "sh", "-c", script,
                           env=scratch, timeout=90)
        assert code == index, err
        grey = last_picture(record, (320, 240)).mean()
        assert abs(grey - 16 * index) < 4, "each records its own display"

    with ThreadPoolExecutor(10) as pool:
        for done in [pool.submit(one, index) for index in range(10)]:
            done.result()


def test_a_typed_interrupt_reaches_the_command_once(scratch, tmp_path):
    """As at a terminal: all processes of the foreground get it, and rtcast does not repeat it."""
    log = tmp_path / "log"
    counting = f"import signal,sys,time; n=[]; signal.signal(signal.SIGINT, lambda *_: n.append(1)); open({str(log)!r}, 'w').close(); " \
               f"deadline=time.time()+30\nwhile not n and time.time()<deadline: time.sleep(0.05)\ntime.sleep(1)\nsys.exit(len(n))"
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(surroundings(env=scratch))
        os.execv(BINARY, ["rtcast", "run", "--size", "320x240", "--audio", "none", "--", "python3", "-c", counting])
    wait_for(log.exists, "the command")
    os.write(terminal, b"\x03")
    status = os.waitpid(process, 0)[1]
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 1
