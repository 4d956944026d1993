import CRTCastProgram
import Dispatch
import Glibc
import rtcast_cli

// All of the program is in rtcast-cli, so that tests can use it; this is linked, stripped, and compiled for each commit.

// A process that decodes for another one gives up its rights, including that of waiting for events. It must therefore
// have no threads of Swift's concurrency, and this file has no `await` of its own.
if let status = Rtcast.statusOfDecoderHost() { exit(status) }

// Made before the task, and used by it alone.
nonisolated(unsafe) let command = Rtcast.confinedCommand(commit: unsafe String(cString: rtcast_commit()))
Task {
  unsafe await Rtcast.run(command)
  exit(0)
}
dispatchMain()
