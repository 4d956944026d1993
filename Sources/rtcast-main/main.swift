import CRTCastProgram
import Dispatch
import Glibc
import rtcast_cli

// All of the program is in rtcast-cli, so that tests can use it; this is linked, stripped, and compiled for each commit.

// A process that decodes for another one gives up its rights, those of waiting for events too: it must have no threads of
// Swift's concurrency, and so this file has no `await` of its own.
if let status = Rtcast.statusOfDecoderHost() { exit(status) }

// Made before the task, and used by it alone.
nonisolated(unsafe) let command = Rtcast.confinedCommand(commit: unsafe String(cString: rtcast_commit()))
Task {
  unsafe await Rtcast.run(command)
  exit(0)
}
dispatchMain()
