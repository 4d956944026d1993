"""Plugins compiled from C by the compiler at hand."""

import subprocess

from harness.rtcast import ROOT


def compiled(source, target, *flags):
    header = next(ROOT.glob("Sources/CRTCastPlugin/**/rtcast_plugin.h"))
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-Wall", "-Werror", *flags, "-I", str(header.parent), "-o", str(target), str(source),
                    "-lm", "-lpthread"], check=True)
    return str(target)
