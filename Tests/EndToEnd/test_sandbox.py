"""Every command confines itself: what the kernel says of its threads, what a plugin inside is refused, and where confining fails."""

import ctypes
import json
import os
import re
import struct
import subprocess
from pathlib import Path

import psutil
import pytest

from harness import rtcast as program
from harness.browser import Viewer
from harness.camera import Cameras, Mode
from harness.plugins import compiled
from harness.rtcast import run, surroundings

HARNESS = Path(__file__).parent / "harness"
# What the tries of trespasser.c need, and what a cast needs too.
ALLOWED = {"thread", "udp"}


def confinement(process):
    """For each thread: whether it has no new privileges, and the mode of seccomp."""
    found = []
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        text = status.read_text()
        found.append((re.search(r"NoNewPrivs:\t(\d)", text)[1], re.search(r"Seccomp:\t(\d)", text)[1]))
    return found


def assert_confined(process):
    found = confinement(process)
    assert found and set(found) == {("1", "2")}, found


@pytest.fixture(scope="session")
def trespasser(tmp_path_factory):
    return compiled(HARNESS / "trespasser.c", tmp_path_factory.mktemp("plugins") / "libtrespasser.so")


def trespass(cast, trespasser, folder, *arguments):
    """What was done, and what was refused, by a plugin that tried it inside a cast with these arguments."""
    secret, target = folder / "home/.ssh/id", folder / "home/.profile"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("a key\n")
    beside = folder / "beside"
    rtcast = cast("plugin", trespasser, *arguments,
                  env={"HOME": str(folder / "home"), "READ": str(secret), "WRITE": str(target), "BESIDE": str(beside)})
    rtcast.url()
    rtcast.stop()
    rtcast.wait()
    said = "".join(rtcast.stderr)
    return set(re.findall(r"^done: (\w+)$", said, re.M)), set(re.findall(r"^refused: (\w+)$", said, re.M))


def traced(folder, *arguments, **options):
    """The calls by which a command that ends by itself confined itself, as strace saw them."""
    log = folder / "trace"
    subprocess.run(["strace", "-f", "-qq", "-e", "signal=none", "-e", "trace=prctl,seccomp,landlock_restrict_self", "-o", str(log), program.BINARY,
                    *arguments], capture_output=True, timeout=60, env=surroundings(options.pop("display", None), None), **options)
    return log.read_text()


def refuse(number, error):
    """In a child, before its program: this system call fails from now on, as where another has filtered it."""
    load, equal, answer = 0x20, 0x15, 0x06
    steps = [(load, 0, 0, 0), (equal, 0, 1, number), (answer, 0, 0, 0x00050000 | error), (answer, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    if libc.prctl(22, 2, filter) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        os._exit(99)


SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}[os.uname().machine]
LANDLOCK = 444
EPERM, ENOSYS, EOPNOTSUPP = 1, 38, 95


@pytest.mark.parametrize("command", ["test", "screen", "file", "camera", "pipe", "plugin", "plugin --isolate", "serve", "watch", "call"])
def test_each_command_is_confined(command, cast, clips, xserver, pulse, waves, tmp_path):
    """All threads of it, while it does its work."""
    sound = {"PULSE_SERVER": pulse.env["PULSE_SERVER"]}
    if command == "test":
        rtcast = cast("test", "--tone", "440")
    elif command == "screen":
        rtcast = cast("screen", "--audio", "desktop", display=xserver.name, env=sound)
    elif command == "file":
        rtcast = cast("file", str(clips.numbered("sandboxed.mkv")))
    elif command == "camera":
        cameras = Cameras(tmp_path)
        cameras.add("/dev/video7", "Left Webcam", [Mode("YUYV", (320, 240), 15)])
        rtcast = cast("camera", "left", env=cameras.environment)
    elif command == "pipe":
        rtcast = cast("pipe", "--socket", str(tmp_path / "frames"))
    elif command.startswith("plugin"):
        rtcast = cast("plugin", waves, *command.split()[1:])
    elif command == "serve":
        rtcast = cast("serve", "--listen", "127.0.0.1:0")
    elif command == "watch":
        rtcast = cast("watch", cast("test").url(), display=xserver.name, env=sound)
        rtcast.wait_event("track", where=lambda event: event["kind"] == "video")
    else:
        hub = cast("serve", "--listen", "127.0.0.1:0").listening()["url"]
        rtcast = cast("call", "--server", hub, "--name", "alice", "--test", display=xserver.name, env=sound)
        rtcast.wait_event("registered")
    if command not in ("watch", "call"):
        rtcast.url()
    assert_confined(rtcast.process.pid)
    for child in psutil.Process(rtcast.process.pid).children(recursive=True):
        assert {privileges for privileges, _ in confinement(child.pid)} <= {"1"}, child.cmdline()
    rtcast.stop()
    assert not any("Landlock" in line or "refused" in line for line in rtcast.stderr), rtcast.stderr


@pytest.mark.quick
@pytest.mark.parametrize("command", ["list", "doctor", "link http://127.0.0.1:1/#token=abcdefghijklmnop --role watch", "rtc-log -"])
def test_commands_that_end_by_themselves_are_confined(command, xserver, tmp_path):
    trace = traced(tmp_path, *command.split(), display=xserver.name, stdin=subprocess.DEVNULL)
    assert re.search(r"PR_SET_NO_NEW_PRIVS, 1, .*= 0$", trace, re.M), trace
    assert re.search(r"landlock_restrict_self\(\d+, 0\) += 0$", trace, re.M), trace
    assert re.search(r"seccomp\(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, .*= 0$", trace, re.M), trace


def test_a_cast_is_refused_what_it_does_not_need(cast, trespasser, tmp_path):
    """By a plugin, which may do what the program may: files of the home folder, programs, other processes, the kernel."""
    done, refused = trespass(cast, trespasser, tmp_path)
    assert done == ALLOWED and len(refused) == 16, (done, refused)
    assert not (tmp_path / "beside").exists() and not (tmp_path / "home/.profile").exists()


def test_no_sandbox_refuses_nothing(cast, trespasser, tmp_path):
    done, _ = trespass(cast, trespasser, tmp_path, "--no-sandbox")
    assert done >= ALLOWED | {"read", "write", "beside", "spawn", "fork", "kill"}, done


def test_a_recording_gives_no_right_to_its_folder(cast, trespasser, tmp_path):
    done, _ = trespass(cast, trespasser, tmp_path, "--record", str(tmp_path / "copy.mkv"), "--rtc-log", str(tmp_path / "rates"))
    assert done == ALLOWED and not (tmp_path / "beside").exists(), done
    assert (tmp_path / "rates").exists()


def test_a_later_source_may_be_any_file_that_is_not_hidden(cast, clips, tmp_path):
    """`--control` names files when the cast is confined already."""
    home = tmp_path / "home"
    clip = Path(clips.numbered("sandboxed.mkv"))
    for folder in (home / "films", home / ".secret"):
        folder.mkdir(parents=True)
        (folder / "clip.mkv").write_bytes(clip.read_bytes())
    rtcast = cast("test", "--control", stdin=subprocess.PIPE, env={"HOME": str(home)})
    rtcast.url()
    rtcast.command("source", "file", str(home / ".secret/clip.mkv"))
    assert "may not" in rtcast.wait_event("error")["message"]
    rtcast.command("source", "file", str(home / "films/clip.mkv"))
    rtcast.wait_event("control", where=lambda event: event["ok"])


def test_plugins_that_were_not_named_are_not_started(cast, waves, trespasser, tmp_path):
    """The launcher starts those of RTCAST_PLUGIN_PATH, and no path that comes later."""
    rtcast = cast("test", "--control", stdin=subprocess.PIPE, env={"RTCAST_PLUGIN_PATH": str(Path(waves).parent)})
    rtcast.url()
    rtcast.command("source", "plugin", trespasser, "--isolate")
    assert "was not named" in rtcast.wait_event("error")["message"]
    rtcast.command("source", "plugin", "waves", "--isolate")
    rtcast.wait_event("control", where=lambda event: event["ok"])


@pytest.mark.parametrize("number,error,sentence", [(LANDLOCK, ENOSYS, "no Landlock"), (LANDLOCK, EOPNOTSUPP, "switched off"),
                                                   (SECCOMP, EPERM, "filter of system calls is refused")])
def test_where_the_system_confines_nothing_one_line_says_so(number, error, sentence, cast, browser, monkeypatch):
    """An old kernel, and a container with a filter of its own: the cast goes on."""
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: start(*a, preexec_fn=lambda: refuse(number, error), **k))
    rtcast = cast("test")
    monkeypatch.undo()
    Viewer(browser, rtcast.url()).wait_live()
    assert len(rtcast.stderr) == 1 and sentence in rtcast.stderr[0], rtcast.stderr


@pytest.mark.quick
def test_doctor_tries_what_it_is_refused(xserver):
    def check(*arguments, **options):
        done = subprocess.run([program.BINARY, "doctor", "--json", *arguments], capture_output=True, text=True, timeout=60,
                              env=surroundings(xserver.name, None), **options)
        assert done.stderr == "", done.stderr
        return next(line for line in map(json.loads, done.stdout.splitlines()) if line["check"] == "Confinement")

    found = check()
    assert found["verdict"] == "works" and "Landlock" in found["finding"] and "system calls" in found["finding"], found
    assert check("--no-sandbox")["verdict"] == "lacks"
    found = check(preexec_fn=lambda: refuse(LANDLOCK, ENOSYS))
    assert found["verdict"] == "lacks" and "no Landlock" in found["finding"] and "Linux 5.13" in found["advice"], found


def test_the_launcher_ends_with_its_program(cast, waves):
    """However that ends; and what the terminal sends to all does not end it before."""
    rtcast = cast("plugin", waves, "--isolate")
    rtcast.url()
    children = psutil.Process(rtcast.process.pid).children(recursive=True)
    launcher = next(child for child in children if "plugin-host" not in child.cmdline())
    launcher.send_signal(2)
    launcher.send_signal(15)
    rtcast.wait_event("stats")
    assert launcher.is_running()
    rtcast.process.kill()
    rtcast.wait()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive


@pytest.mark.quick
def test_every_command_has_no_sandbox():
    """In its help, and in the completions of shells."""
    for command in ("screen", "file", "camera", "pipe", "plugin", "test", "call", "watch", "serve", "link", "list", "doctor", "rtc-log"):
        assert "--no-sandbox" in run(command, "--help")[1], command
    assert "--no-sandbox" in run("--generate-completion-script", "bash")[1]
